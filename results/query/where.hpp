// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tersor::results {

/// Checks that `text` is one SQL expression over these columns and nothing else, fit for
/// WHERE (...): no second value or statement, no SELECT of its own, no parameter, no
/// aggregate. Throws Error(kUsage) with SQLite's words and the column.
void check_expression(std::string_view text, const std::vector<std::string>& columns);

}  // namespace tersor::results
