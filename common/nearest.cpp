// SPDX-License-Identifier: Apache-2.0
#include "common/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace tersor {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Optimal string alignment distance: each pair of neighbours is swapped at most once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 256;  // a longer "name" is not a slip of the pen
  std::string best;
  std::size_t best_distance = 0;
  if (name.size() > kLongest) return best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    const std::size_t limit = std::max<std::size_t>(2, std::max(name.size(), candidate.size()) / 3);
    const bool shares_something = distance < std::max(name.size(), candidate.size());
    if (distance <= limit && shares_something && (best.empty() || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string known_names_hint(std::string_view name, const std::vector<std::string>& candidates) {
  std::string hint;
  if (const std::string near = nearest_name(name, candidates); !near.empty())
    hint = "; did you mean '" + near + "'?";
  hint += " (known: ";
  for (std::size_t i = 0; i < candidates.size(); ++i) hint += (i ? ", " : "") + candidates[i];
  return hint + ")";
}

}  // namespace tersor
