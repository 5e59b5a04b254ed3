// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/report.hpp"
#include "common/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "common/log.hpp"
#include "harness/cli/command.hpp"

namespace tersor::harness {
namespace {

const CommandRegistrar kReport(80, "report", [](CLI::App& app) {
  auto options = std::make_shared<reports::ReportOptions>();
  CLI::App* report =
      app.add_subcommand("report", "Write tables and figures from a results database");
  report->add_option("--db", options->database, "results database")
      ->required()
      ->check(refuse_empty);
  report->add_option("--out", options->folder, "folder for index.html, report.md, CSV and figures")
      ->required()
      ->check(refuse_empty);
  report->add_option("--title", options->title, "heading of the page")->capture_default_str();
  report->footer(
      "Examples:\n"
      "  tersor report --db results.db --out report\n"
      "  tersor report --db sst2.db --out sst2 --title 'SST-2, MiniLM, TP 2'\n"
      "Figures are drawn by vl-convert in the Python that scripts/setup makes; TERSOR_PYTHON "
      "names\n"
      "another. Without it the report comes with the figures as Vega-Lite JSON.");
  report->callback([options] {
    const reports::ReportResult result = reports::write_report(*options);
    for (const std::string& notice : result.notices) log_line(LogLevel::kNote, notice);
    print_text("%s\n", (options->folder / "index.html").string().c_str());
    print_text("%s\n", (options->folder / "report.md").string().c_str());
    print_text("and %zu more files in %s\n", result.files.size() - 2,
               options->folder.string().c_str());
  });
});

}  // namespace
}  // namespace tersor::harness
