// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "results/query/reader.hpp"

namespace tersor::results {

enum class Format { kTable, kCsv, kSheet, kJson, kMarkdown };
std::vector<std::string> format_names();
/// One of format_names(); throws Error(kUsage) on another name.
Format parse_format(std::string_view name);

/// Writes a result. csv: RFC 4180 with "\n", NULL empty, an empty string "". sheet: the same for a
/// spreadsheet, which would take text that begins with = + - @, a tab or a carriage return for a
/// formula: it gets a ' in front. json: an array of objects, NULL null, infinities as the strings
/// "Infinity" and "-Infinity". In these, numbers are the shortest that read back the same, blobs
/// are hex, and text is as it is stored. table and md are for people: 6 significant digits, and
/// what a terminal would obey is escaped.
void write_result(std::ostream& out, const QueryResult& result, Format format);

/// Runs the statement and writes its result: csv, sheet and json row by row, so that memory does
/// not grow with them; what was written before an error stays. Returns whether there were more rows
/// than the limit.
bool write_query(std::ostream& out, Reader& reader, const std::string& sql,
                 const QueryLimits& limits, Format format);

/// The shortest decimal that reads back the same.
std::string exact_number(double value);
/// Six significant digits; whole where that is more, without an exponent below 1e15.
std::string short_number(double value);
/// One CSV field: quoted where it must be.
std::string csv_field(std::string_view text);

}  // namespace tersor::results
