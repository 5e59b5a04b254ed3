// SPDX-License-Identifier: Apache-2.0
#include "common/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "common/error.hpp"

namespace tersor {

double quantile(std::span<const double> sorted, double p) {
  TERSOR_CHECK(!sorted.empty(), "quantile of nothing");
  const double rank = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(rank));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - std::floor(rank)) * (sorted[above] - sorted[below]);
}

Interval median_interval(std::span<const double> sorted, double count) {
  const double half = kNormal975 * 0.5 / std::sqrt(count);
  return {quantile(sorted, std::max(0.0, 0.5 - half)), quantile(sorted, std::min(1.0, 0.5 + half))};
}

}  // namespace tersor
