// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tersor::reports {

struct ReportOptions {
  std::filesystem::path database;
  std::filesystem::path
      folder;  ///< made where it is not there; files of the same name are replaced
  std::string title = "tersor: results";
};

struct ReportResult {
  std::vector<std::string> files;    ///< written, by name
  std::vector<std::string> notices;  ///< what a reader should know, e.g. why figures are not drawn
};

/// Writes index.html (self-contained), report.md, one CSV a table, and every figure as Vega-Lite
/// JSON and SVG. Reads the database only; the same database gives the same files. Throws
/// Error(kDatabase), Error(kMissing) or Error(kIo).
ReportResult write_report(const ReportOptions& options);

}  // namespace tersor::reports
