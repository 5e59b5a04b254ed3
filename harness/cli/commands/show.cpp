// SPDX-License-Identifier: Apache-2.0
#include "results/query/show.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "common/error.hpp"
#include "common/log.hpp"
#include "common/shell_word.hpp"
#include "common/standard_output.hpp"
#include "harness/cli/command.hpp"
#include "protocol/exit_code.hpp"
#include "results/query/format.hpp"
#include "results/query/reader.hpp"

namespace tersor::harness {
namespace {

struct ShowCommand {
  std::string name;
  std::string db;
  std::string format = "table";
  bool is_complete = false;
  results::ShowOptions options{"", true, {.rows = 1000, .seconds = 60, .bytes = 256 << 20}};

  void run() {
    const results::Format chosen = results::parse_format(format);
    const bool is_for_programs =
        chosen != results::Format::kTable && chosen != results::Format::kMarkdown;
    options.is_complete = is_complete || is_for_programs;
    results::Reader reader(db);
    options.limits.on_overrun = [this] {
      log_line(LogLevel::kError, results::overrun_message(options.limits.seconds));
      std::_Exit(protocol::ProgramExit::kBadInput);
    };
    const results::QueryResult result = results::show(reader, name, options);
    results::write_result(std::cout, result, chosen);
    flush_standard_output();
    if (result.rows.empty()) log_line(LogLevel::kNote, "no rows" + reason());
    if (result.is_cut)
      log_line(LogLevel::kNote, "cut after " + std::to_string(options.limits.rows) +
                                    " rows; there are more (--limit N, 0 for all)");
  }

  std::string reason() const {
    if (!options.where.empty()) return " match --where \"" + options.where + "\"";
    return name == "runs" ? "; the database holds no run"
                          : "; no run is ok yet (tersor show runs tells why)";
  }
};

const CommandRegistrar kShow(60, "show", [](CLI::App& app) {
  auto command = std::make_shared<ShowCommand>();
  CLI::App* show = app.add_subcommand(
      "show", "Show runs, or accuracy, speed and traffic with mean, deviation and n over seeds");
  // A required one would be refused as "what is required", which tells nobody what to write.
  show->add_option("what", command->name, "runs, accuracy, speed or traffic");
  show->add_option("--db", command->db, "results database")->check(refuse_empty);
  show->add_option("--where", command->options.where,
                   "SQL expression over the columns, e.g. \"dataset = 'sst2' and codec like "
                   "'topk%'\"");
  show->add_option(
          "--format", command->format,
          "table, csv, sheet (csv whose text no spreadsheet takes for a formula), json or md")
      ->capture_default_str()
      ->check(CLI::IsMember(results::format_names()));
  show->add_flag("--all", command->is_complete,
                 "every column of the view, as csv and json always have");
  show->add_option("--limit", command->options.limits.rows, "most rows; 0: all")
      ->capture_default_str()
      ->check(refuse_negative);
  show->footer(
      "Examples:\n"
      "  tersor show runs --db results.db --where \"status <> 'ok'\"\n"
      "  tersor show accuracy --db results.db --where \"is_primary and inference = 'on'\"\n"
      "  tersor show traffic --db results.db --format csv > traffic.csv\n"
      "Views and columns: docs/results-schema.md (v_run, v_accuracy, v_speed, v_traffic).");
  show->callback([command] {
    if (command->name.empty())
      throw Error(ErrorKind::kUsage,
                  "show: say what: runs, accuracy, speed or traffic, e.g. tersor show runs --db " +
                      (command->db.empty() ? "results.db" : shell_word(command->db)));
    if (command->db.empty()) throw Error(ErrorKind::kUsage, "show: --db is required");
    command->run();
  });
});

}  // namespace
}  // namespace tersor::harness
