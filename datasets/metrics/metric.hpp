// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.hpp"

namespace tersor::datasets {

/// A quality measure of predictions against labels.
struct Metric {
  static constexpr std::string_view kKind = "metric";
  std::string name;         ///< e.g. "accuracy"; the file's name in datasets/metrics/
  std::string description;  ///< one line: definition, and the value where it is undefined
  double lowest = 0;        ///< smallest and largest possible value
  double highest = 1;
  /// Equal sizes, at least one element. Class indices for classification metrics, scores for
  /// correlations. Returns NaN where the definition has no value and its convention gives none.
  std::function<double(std::span<const double> predictions, std::span<const double> labels)>
      compute;
  bool is_higher_better = true;
};

/// Registers one metric; put one object of this type at the end of datasets/metrics/NAME.cpp.
using MetricRegistrar = Registrar<Metric>;

/// All metrics, by name.
std::vector<const Metric*> all_metrics();
/// Throws Error(kUsage) with the nearest name and the known ones.
const Metric& find_metric(std::string_view name);

/// Checks sizes (Error(kUsage)) and computes. A NaN among predictions gives NaN for correlations
/// and counts as a wrong class elsewhere.
double compute_metric(std::string_view name, std::span<const double> predictions,
                      std::span<const double> labels);

}  // namespace tersor::datasets
