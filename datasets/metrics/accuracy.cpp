// SPDX-License-Identifier: Apache-2.0
#include "datasets/metrics/metric.hpp"

namespace tersor::datasets {
namespace {

double accuracy(std::span<const double> predictions, std::span<const double> labels) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += predictions[i] == labels[i];
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

const MetricRegistrar kAccuracy{
    {"accuracy", "share of predictions that equal their label", 0.0, 1.0, accuracy}};

}  // namespace
}  // namespace tersor::datasets
