// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "reports/engine/numbers.hpp"
#include "reports/engine/pivot.hpp"
#include "reports/engine/registry.hpp"

namespace tersor::reports {
namespace {

std::string text_or_dash(std::optional<double> value, double unit, int decimals) {
  return value ? fixed(*value / unit, decimals) : "\xe2\x80\x93";
}

Section build(Context& context) {
  Section section;
  section.title = "Cost of the codec";
  results::QueryResult rows = context.query("tables/cost/query.sql");
  std::map<std::int64_t, std::size_t> row_of;  // by cell
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    row_of[RowView(rows, i).integer("cell_id")] = i;
  const auto columns = [](const Group&) -> std::vector<Column> {
    return {{"added parameters", "", false},
            {"added MFLOP", "", false},
            {"codec state, kB", "", false},
            {"peak memory, MB", "", false}};
  };
  const auto cells = [&](const Group& group,
                         const std::string& codec) -> std::optional<std::vector<Cell>> {
    const auto cell = group.cells.find(codec);
    if (cell == group.cells.end() || !row_of.contains(cell->second.id)) return std::nullopt;
    const RowView row(rows, row_of.at(cell->second.id));
    return std::vector<Cell>{
        {text_or_dash(row.number("added_parameters"), 1, 0), "", Tone::kPlain},
        {text_or_dash(row.number("added_flops"), 1e6, 2), "", Tone::kPlain},
        {text_or_dash(row.number("codec_state_bytes"), 1e3, 1), "", Tone::kPlain},
        {text_or_dash(row.number("peak_rss_bytes"), 1e6, 0), count_text(row.integer("n")),
         Tone::kPlain}};
  };
  for (const Panel& panel : context.panels())
    for (Table& table : pivot(context, panel, columns, cells)) {
      table.caption = "Parameters, operations and memory: " + panel.label();
      section.blocks.emplace_back(table);
    }
  if (section.blocks.empty()) return section;
  add_notes(
      section,
      {"Added parameters: of the whole model, trained with it. Added MFLOP: in one forward pass of "
       "a "
       "micro-batch. Memory: of the largest rank, the whole process, with libtorch."});
  section.files.push_back({"cost.csv", std::move(rows)});
  return section;
}

const ItemRegistrar kCost({80, "cost", build});

}  // namespace
}  // namespace tersor::reports
