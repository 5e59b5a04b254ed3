// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

namespace tersor::datasets {

/// Pearson's r of two lists of equal size: NaN where one is constant, has fewer than two elements,
/// or holds a value that is not finite; clamped to [-1, 1] (as scipy.stats.pearsonr).
double pearson_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace tersor::datasets
