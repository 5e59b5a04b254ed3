// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "reports/engine/numbers.hpp"
#include "reports/engine/pivot.hpp"
#include "reports/engine/registry.hpp"
#include "results/stats/stats.hpp"

namespace tersor::reports {
namespace {

/// Mean step parts of the seeds of a cell, ms, by metric.
using Parts = std::map<std::int64_t, std::map<std::string, std::vector<double>>>;

Cell part_cell(const std::vector<double>& values) {
  const double mean = results::mean_of(values);
  return {with_deviation(mean, results::deviation_of(values), mean < 100 ? 2 : 1), "",
          Tone::kPlain};
}

constexpr std::array<const char*, 7> kParts{"step_time",      "forward_time", "backward_time",
                                            "optimizer_time", "encode_time",  "transfer_time",
                                            "decode_time"};

/// Whether every part has a value of every seed; a database that another program changed may not.
bool is_complete(const std::map<std::string, std::vector<double>>& parts) {
  const auto step = parts.find(kParts.front());
  return step != parts.end() && std::all_of(kParts.begin(), kParts.end(), [&](const char* part) {
           const auto found = parts.find(part);
           return found != parts.end() && found->second.size() == step->second.size();
         });
}

/// What forward, backward and optimizer leave of the step.
std::vector<double> rest_of(const std::map<std::string, std::vector<double>>& parts) {
  std::vector<double> rest = parts.at("step_time");
  for (const char* part : {"forward_time", "backward_time", "optimizer_time"})
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= parts.at(part).at(i);
  return rest;
}

Section build(Context& context) {
  Section section;
  section.title = "Where a step's time goes";
  results::QueryResult rows = context.query("tables/breakdown/query.sql");
  Parts parts;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    parts[row.integer("cell_id")][row.text("metric")].push_back(row.number("mean_ms").value_or(0));
  }
  const std::vector<Column> columns{{"step", "ms", false},
                                    {"forward", "ms", false},
                                    {"backward", "ms", false},
                                    {"optimizer", "ms", false},
                                    {"rest", "ms", false},
                                    {"encode", "of forward and backward, ms", false},
                                    {"transfer", "of forward and backward, ms", false},
                                    {"decode", "of forward and backward, ms", false}};
  const auto cells = [&](const Group& group,
                         const std::string& codec) -> std::optional<std::vector<Cell>> {
    const auto cell = group.cells.find(codec);
    if (cell == group.cells.end() || !parts.contains(cell->second.id)) return std::nullopt;
    const auto& found = parts.at(cell->second.id);
    if (!is_complete(found)) {
      std::vector<Cell> none(columns.size(), Cell{"", "", Tone::kMissing});
      none.front().text = "a part of the step is not in the database";
      return none;
    }
    std::vector<Cell> line;
    for (const char* part : {"step_time", "forward_time", "backward_time", "optimizer_time"})
      line.push_back(part_cell(found.at(part)));
    line.front().note = count_text(static_cast<std::int64_t>(found.at("step_time").size()));
    line.push_back(part_cell(rest_of(found)));
    for (const char* part : {"encode_time", "transfer_time", "decode_time"})
      line.push_back(part_cell(found.at(part)));
    return line;
  };
  for (const Panel& panel : context.panels())
    for (const Group* group : panel.groups) {
      if (!group->is_timed()) continue;
      Table table = single_table(context, *group, columns, cells);
      table.caption = "Parts of a training step: " + panel.model + ", " + group->label();
      section.blocks.emplace_back(table);
    }
  if (section.blocks.empty()) return section;
  add_notes(
      section,
      {"Means over steps, so that parts add up to the step (the table above has medians). Forward "
       "and "
       "backward include their encode, transfer and decode; transfer includes waiting for the "
       "other "
       "ranks."});
  section.files.push_back({"breakdown.csv", std::move(rows)});
  return section;
}

const ItemRegistrar kBreakdown({50, "breakdown", build});

}  // namespace
}  // namespace tersor::reports
