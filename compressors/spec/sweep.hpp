// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::compressors {

/// Expands every `{a,b}` (commas inside parentheses belong to an alternative; braces nest), the
/// leftmost brace slowest; a text without braces is its own and only result. Throws Error(kSpec) on
/// unbalanced braces, an empty alternative, or more than `limit` results.
std::vector<std::string> expand_sweep(std::string_view text, std::size_t limit = 1'000'000);

/// How many results expand_sweep has (saturating), without making them; 1 without braces.
std::uint64_t count_sweep(std::string_view text);

/// a * b and a + b, or the largest value where that overflows.
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b);

}  // namespace tersor::compressors
