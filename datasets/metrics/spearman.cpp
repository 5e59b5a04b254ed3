// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "datasets/metrics/correlation.hpp"
#include "datasets/metrics/metric.hpp"

namespace tersor::datasets {
namespace {

/// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + 1 + end) / 2.0;
    for (; begin < end; ++begin) result[order[begin]] = shared;
  }
  return result;
}

double spearman(std::span<const double> predictions, std::span<const double> labels) {
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (std::any_of(predictions.begin(), predictions.end(), is_nan) ||
      std::any_of(labels.begin(), labels.end(), is_nan))
    return std::numeric_limits<double>::quiet_NaN();
  return pearson_correlation(ranks(predictions), ranks(labels));
}

const MetricRegistrar kSpearman{{"spearman",
                                 "Pearson correlation of ranks, ties sharing their mean rank; "
                                 "undefined where one list is constant",
                                 -1.0, 1.0, spearman}};

}  // namespace
}  // namespace tersor::datasets
