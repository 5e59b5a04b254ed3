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

/// Deviations from the mean divided by their Euclidean norm; scaled by the largest first, so that
/// squares neither overflow nor vanish. Empty where the list is constant.
std::vector<double> unit_deviations(std::span<const double> values) {
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  if (*lowest == *highest) return {};
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::vector<double> result(values.begin(), values.end());
  double largest = 0;
  for (double& value : result) {
    value -= mean;
    largest = std::max(largest, std::fabs(value));
  }
  double squares = 0;
  for (double& value : result) {
    value /= largest;
    squares += value * value;
  }
  for (double& value : result) value /= std::sqrt(squares);
  return result;
}

}  // namespace

double pearson_correlation(std::span<const double> x, std::span<const double> y) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  if (x.size() < 2 || !std::all_of(x.begin(), x.end(), is_finite) ||
      !std::all_of(y.begin(), y.end(), is_finite))
    return kUndefined;
  const std::vector<double> a = unit_deviations(x);
  const std::vector<double> b = unit_deviations(y);
  if (a.empty() || b.empty()) return kUndefined;
  return std::clamp(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), -1.0, 1.0);
}

namespace {

const MetricRegistrar kPearson{
    {"pearson", "linear correlation of scores; undefined where one list is constant", -1.0, 1.0,
     pearson_correlation}};

}  // namespace
}  // namespace tersor::datasets
