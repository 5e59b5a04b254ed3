// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tersor::results {

/// Checks that `text` is one SQL expression and nothing else, so that it can stand in WHERE (...):
/// balanced brackets, no ';', no comment, no parameter, no subquery and no other keyword of a
/// statement. Throws Error(kUsage) with the column. Names and functions are SQLite's to check.
void check_expression(std::string_view text);

}  // namespace tersor::results
