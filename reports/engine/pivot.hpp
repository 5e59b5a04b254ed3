// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/engine/context.hpp"
#include "reports/engine/document.hpp"

namespace tersor::reports {

/// What a group contributes to one row: a cell per column, or nothing where there is no value.
using GroupCells =
    std::function<std::optional<std::vector<Cell>>(const Group& group, const std::string& codec)>;
/// Column titles of one group; the heading above them is the group's label, and Column::group
/// where there is one.
using GroupColumns = std::function<std::vector<Column>(const Group& group)>;

/// Tables of a panel with a row per codec and a block of columns per group, at most three groups
/// side by side. An empty cell tells its reason.
std::vector<Table> pivot(Context& context, const Panel& panel, const GroupColumns& columns,
                         const GroupCells& cells);

/// The same with one group: a table of its own.
Table single_table(Context& context, const Group& group, const std::vector<Column>& columns,
                   const GroupCells& cells);

}  // namespace tersor::reports
