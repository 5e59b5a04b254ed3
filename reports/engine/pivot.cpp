// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/pivot.hpp"

#include <algorithm>

namespace tersor::reports {
namespace {

constexpr std::size_t kMostGroupsInATable = 3;

std::vector<Cell> missing(const Group& group, const std::string& codec, std::size_t width) {
  constexpr std::size_t kLongestReason = 160;
  std::string reason = missing_reason(group, codec);
  if (reason.size() > kLongestReason) reason = reason.substr(0, kLongestReason) + "...";
  std::vector<Cell> cells(width, Cell{"", "", Tone::kMissing});
  cells.front().text = reason;
  return cells;
}

}  // namespace

Table single_table(Context& context, const Group& group, const std::vector<Column>& columns,
                   const GroupCells& cells) {
  Table table;
  table.columns.push_back({"codec", "", true});
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (const std::string& codec : context.codecs({&group})) {
    Row row;
    row.is_reference = context.is_reference(codec);
    row.cells.push_back({context.title(codec), "", Tone::kPlain});
    const auto found = cells(group, codec);
    const std::vector<Cell> filled = found ? *found : missing(group, codec, columns.size());
    row.cells.insert(row.cells.end(), filled.begin(), filled.end());
    table.rows.push_back(row);
  }
  return table;
}

std::vector<Table> pivot(Context& context, const Panel& panel, const GroupColumns& columns,
                         const GroupCells& cells) {
  std::vector<Table> tables;
  for (std::size_t begin = 0; begin < panel.groups.size(); begin += kMostGroupsInATable) {
    const std::size_t stop = std::min(begin + kMostGroupsInATable, panel.groups.size());
    const std::vector<const Group*> shown(panel.groups.begin() + static_cast<long>(begin),
                                          panel.groups.begin() + static_cast<long>(stop));
    Table table;
    table.columns.push_back({"codec", "", true});
    std::vector<std::size_t> widths;
    for (const Group* group : shown) {
      std::vector<Column> block = columns(*group);
      for (Column& column : block)
        column.group = group->short_label() + (column.group.empty() ? "" : ": " + column.group);
      widths.push_back(block.size());
      table.columns.insert(table.columns.end(), block.begin(), block.end());
    }
    for (const std::string& codec : context.codecs(shown)) {
      Row row;
      row.is_reference = context.is_reference(codec);
      row.cells.push_back({context.title(codec), "", Tone::kPlain});
      for (std::size_t i = 0; i < shown.size(); ++i) {
        const auto found = cells(*shown[i], codec);
        const std::vector<Cell> filled = found ? *found : missing(*shown[i], codec, widths[i]);
        row.cells.insert(row.cells.end(), filled.begin(), filled.end());
      }
      table.rows.push_back(row);
    }
    tables.push_back(table);
  }
  return tables;
}

}  // namespace tersor::reports
