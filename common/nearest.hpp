// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tersor {

/// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours; case
/// ignored) to `name`, or empty where none is near (more than a third of the longer name, at least
/// 2). The first of equals.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// For the end of an error message: "; did you mean 'topk'?" where one is near, then
/// " (known: a, b, c)".
std::string known_names_hint(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tersor
