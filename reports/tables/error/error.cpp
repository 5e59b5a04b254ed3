// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>

#include "reports/engine/numbers.hpp"
#include "reports/engine/pivot.hpp"
#include "reports/engine/registry.hpp"
#include "results/stats/stats.hpp"

namespace tersor::reports {
namespace {

constexpr std::array<const char*, 4> kValues{"message_relative_l2", "message_cosine",
                                             "sum_relative_l2", "sum_cosine"};

struct Errors {
  std::array<std::vector<double>, 4> values;  ///< one per seed
  std::int64_t samples = 0;
  std::int64_t runs = 0;
};

Section build(Context& context) {
  Section section;
  section.title = "Compression error";
  results::QueryResult rows = context.query("tables/error/query.sql");
  std::map<std::pair<std::int64_t, std::string>, Errors> errors;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    Errors& found = errors[{row.integer("cell_id"), row.text("direction")}];
    found.samples += row.integer("samples");
    ++found.runs;
    for (std::size_t k = 0; k < kValues.size(); ++k)
      if (const auto value = row.number(kValues[k])) found.values[k].push_back(*value);
  }
  const std::vector<Column> columns{{"relative L2", "one message", false},
                                    {"cosine", "one message", false},
                                    {"relative L2", "sum at the site", false},
                                    {"cosine", "sum at the site", false}};
  for (const Panel& panel : context.panels())
    for (const Group* group : panel.groups)
      for (const char* direction : {"forward", "backward"}) {
        bool has_any = false;
        const auto cells = [&](const Group& of,
                               const std::string& codec) -> std::optional<std::vector<Cell>> {
          const auto cell = of.cells.find(codec);
          if (cell == of.cells.end()) return std::nullopt;
          const auto found = errors.find({cell->second.id, direction});
          if (found == errors.end()) {
            if (cell->second.ok == 0) return std::nullopt;
            std::vector<Cell> none(kValues.size(), Cell{"", "", Tone::kMissing});
            none.front().text = "not compressed, or not sampled";
            return none;
          }
          has_any = true;
          std::vector<Cell> line;
          for (std::size_t k = 0; k < kValues.size(); ++k) {
            const auto& values = found->second.values[k];
            const auto n = static_cast<std::int64_t>(values.size());
            const bool is_partial = n > 0 && n < found->second.runs;
            line.push_back(
                {values.empty()
                     ? "undefined"
                     : with_deviation(results::mean_of(values), results::deviation_of(values), 4),
                 is_partial ? count_text(n, 0, found->second.runs - n) : "", Tone::kPlain});
          }
          const std::string n = line.front().note;
          line.front().note = (n.empty() ? count_text(found->second.runs) : n) + ", " +
                              std::to_string(found->second.samples) +
                              (found->second.samples == 1 ? " sample" : " samples");
          return line;
        };
        Table table = single_table(context, *group, columns, cells);
        if (!has_any) continue;
        table.caption =
            std::string(direction == std::string("forward") ? "Activations" : "Gradients") +
            " against their uncompressed values: " + panel.model + ", " + group->label();
        section.blocks.emplace_back(table);
      }
  if (section.blocks.empty()) return section;
  add_notes(
      section,
      {"Sampled while training: a message of rank 0, and the sum over ranks, each against its "
       "uncompressed value. Relative L2: |x \xe2\x88\x92 decoded| / |x|; 0 is exact."});
  section.files.push_back({"error.csv", std::move(rows)});
  return section;
}

const ItemRegistrar kError({70, "error", build});

}  // namespace
}  // namespace tersor::reports
