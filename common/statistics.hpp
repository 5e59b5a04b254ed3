// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

namespace tersor {

/// The 0.975 quantile of the standard normal distribution: a two-sided interval of 95 %.
inline constexpr double kNormal975 = 1.959963984540054;

/// Quantile by linear interpolation (NumPy's default, Hyndman and Fan's type 7). `sorted` is
/// ascending and not empty, p in [0, 1].
double quantile(std::span<const double> sorted, double p);

struct Interval {
  double low = 0;
  double high = 0;
};

/// 95 % interval of the median by order statistics: the quantiles 0.5 -+ 1.96 / (2 sqrt(n)), cut at
/// the extremes, which it reaches below n = 4. `sorted` is ascending and not empty; `count` is n,
/// or the effective sample size where neighbours are correlated.
Interval median_interval(std::span<const double> sorted, double count);

}  // namespace tersor
