// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reports/engine/numbers.hpp"
#include "reports/engine/registry.hpp"

namespace tersor::reports {
namespace {

Paragraph statuses(Context& context) {
  const results::QueryResult rows = context.query("tables/runs/statuses.sql");
  std::string text = "Deciding runs (one for each cell and seed): ";
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    text += (i > 0 ? ", " : "") + row.text("runs") + " " + row.text("status");
  }
  return {rows.rows.empty() ? "The database holds no run." : text + ".", false};
}

Table incomplete(const results::QueryResult& rows) {
  Table table;
  table.caption = "Runs without a result";
  table.columns = {{"codec", "", true},  {"data set", "", true}, {"hardware", "", true},
                   {"seed", "", false},  {"status", "", true},   {"cause", "", true},
                   {"reason", "", true}, {"attempts", "", false}};
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    Row line;
    for (const char* column :
         {"codec", "dataset", "hardware", "seed", "status", "cause", "reason", "attempts"})
      line.cells.push_back({row.text(column), "", Tone::kPlain});
    table.rows.push_back(line);
  }
  return table;
}

std::vector<Paragraph> machines(Context& context) {
  const results::QueryResult rows = context.query("tables/runs/machines.sql");
  std::vector<Paragraph> list;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    std::string text = "Machine: " + row.text("cpu") + ", " + row.text("cores") + " cores";
    if (const auto bytes = row.number("memory_bytes"))
      text += ", " + fixed(*bytes / 1e9, 1) + " GB of memory";
    if (!row.text("gpu").empty()) text += ", " + row.text("gpus") + " x " + row.text("gpu");
    text += "; libtorch " + row.text("torch");
    for (const char* fact : {"isa", "math_library", "backend", "compiler", "flags"}) {
      const std::string found = row.text(fact);
      const auto begin = found.find_first_not_of(' ');
      if (begin != std::string::npos) text += ", " + found.substr(begin);
    }
    list.push_back({text + " (" + row.text("runs") + " runs).", false});
  }
  return list;
}

Section build(Context& context) {
  Section section;
  section.title = "Runs";
  section.blocks.emplace_back(statuses(context));
  const results::QueryResult bad = context.query("tables/runs/incomplete.sql");
  if (!bad.rows.empty()) section.blocks.emplace_back(incomplete(bad));
  for (const Paragraph& paragraph : machines(context)) section.blocks.emplace_back(paragraph);
  const results::QueryResult differing = context.query("tables/runs/differing.sql");
  for (std::size_t i = 0; i < differing.rows.size(); ++i) {
    const RowView row(differing, i);
    for (const Group& group : context.groups())
      if (group.hash == row.text("group_hash"))
        section.blocks.emplace_back(Paragraph{"Runs of " + group.label() + " differ in " +
                                                  row.text("part") + " `" + row.text("fact") +
                                                  "`: " + row.text("found") + ".",
                                              true});
  }
  section.files.push_back({"runs.csv", context.query("tables/runs/query.sql")});
  return section;
}

const ItemRegistrar kRuns({90, "runs", build});

}  // namespace
}  // namespace tersor::reports
