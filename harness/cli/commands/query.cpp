// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "common/log.hpp"
#include "common/standard_output.hpp"
#include "harness/cli/command.hpp"
#include "protocol/exit_code.hpp"
#include "results/query/format.hpp"
#include "results/query/reader.hpp"

namespace tersor::harness {
namespace {

struct QueryCommand {
  std::string sql;
  std::string db;
  std::string format = "table";
  results::QueryLimits limits{.rows = 1000, .seconds = 30, .bytes = 256 << 20};

  void run() {
    const results::Format chosen = results::parse_format(format);
    results::Reader reader(db);
    limits.on_overrun = [this] {
      log_line(LogLevel::kError, results::overrun_message(limits.seconds));
      std::_Exit(protocol::ProgramExit::kBadInput);
    };
    const bool is_cut = results::write_query(std::cout, reader, sql, limits, chosen);
    flush_standard_output();
    if (is_cut)
      log_line(LogLevel::kNote, "cut after " + std::to_string(limits.rows) +
                                    " rows; there are more (--limit N, 0 for all)");
  }
};

const CommandRegistrar kQuery(70, "query", [](CLI::App& app) {
  auto command = std::make_shared<QueryCommand>();
  CLI::App* query =
      app.add_subcommand("query", "Run one read-only SQL statement on a results database");
  query->add_option("sql", command->sql, "SQL; tables and views: docs/results-schema.md")
      ->required();
  query->add_option("--db", command->db, "results database")->required()->check(refuse_empty);
  query
      ->add_option(
          "--format", command->format,
          "table, csv, sheet (csv whose text no spreadsheet takes for a formula), json or "
          "md; csv, sheet and json are written row by row, the others hold at most 256 MiB")
      ->capture_default_str()
      ->check(CLI::IsMember(results::format_names()));
  query->add_option("--limit", command->limits.rows, "most rows; 0: all")
      ->capture_default_str()
      ->check(refuse_negative);
  query->add_option("--timeout", command->limits.seconds, "seconds, then the query stops; 0: none")
      ->capture_default_str()
      ->check(refuse_negative);
  query->footer(
      "Examples:\n"
      "  tersor query 'SELECT codec, status, count(*) FROM v_run GROUP BY 1, 2' --db results.db\n"
      "  tersor query 'SELECT * FROM v_pareto WHERE on_front' --db results.db --format md\n"
      "  tersor query \"SELECT name, sql FROM sqlite_master WHERE type = 'view'\" --db results.db");
  query->callback([command] { command->run(); });
});

}  // namespace
}  // namespace tersor::harness
