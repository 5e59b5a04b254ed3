// SPDX-License-Identifier: Apache-2.0
#include "datasets/metrics/metric.hpp"

namespace tersor::datasets {
namespace {

/// 2 TP / (2 TP + FP + FN); scikit-learn's zero_division=0 where neither list has class 1.
double f1(std::span<const double> predictions, std::span<const double> labels) {
  std::size_t both = 0;
  std::size_t predicted = 0;
  std::size_t actual = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    both += predictions[i] == 1.0 && labels[i] == 1.0;
    predicted += predictions[i] == 1.0;
    actual += labels[i] == 1.0;
  }
  if (predicted + actual == 0) return 0.0;
  return 2.0 * static_cast<double>(both) / static_cast<double>(predicted + actual);
}

const MetricRegistrar kF1{{"f1",
                           "harmonic mean of precision and recall of class 1; 0 where no label and "
                           "no prediction is 1",
                           0.0, 1.0, f1}};

}  // namespace
}  // namespace tersor::datasets
