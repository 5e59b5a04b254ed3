// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ostream>
#include <string>
#include <string_view>

#include "results/query/reader.hpp"

namespace tersor::results {

enum class Format { kTable, kCsv, kJson, kMarkdown };
/// "table", "csv", "json", "md"; throws Error(kUsage) on another name.
Format parse_format(std::string_view name);

/// Writes a result. csv: RFC 4180 with "\n", NULL empty, an empty string "". json: an array of
/// objects, NULL null, infinities as the strings "Infinity" and "-Infinity". In both, numbers are
/// the shortest that read back the same, and blobs are hex. table and md are for people: 6
/// significant digits.
void write_result(std::ostream& out, const QueryResult& result, Format format);

/// The shortest decimal that reads back the same.
std::string exact_number(double value);
/// Six significant digits; whole where that is more, without an exponent below 1e15.
std::string short_number(double value);
/// One CSV field: quoted where it must be.
std::string csv_field(std::string_view text);

}  // namespace tersor::results
