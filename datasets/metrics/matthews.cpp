// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include "datasets/metrics/metric.hpp"

namespace tersor::datasets {
namespace {

/// Gorodkin's R_K for any number of classes, which is Matthews' phi for two:
/// (c s - sum p_k t_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)), s samples, c right ones, p_k
/// predictions and t_k labels of class k. 0 where the root is 0, as in scikit-learn.
double matthews(std::span<const double> predictions, std::span<const double> labels) {
  std::map<double, std::pair<double, double>> counts;  // class: predicted, actual
  double nan_predictions = 0;  // NaN is no key: all of them are one class of their own
  double right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::isnan(predictions[i]))
      ++nan_predictions;
    else
      ++counts[predictions[i]].first;
    ++counts[labels[i]].second;
    right += predictions[i] == labels[i];
  }
  const auto samples = static_cast<double>(labels.size());
  double products = 0;
  double predicted_squares = nan_predictions * nan_predictions;
  double actual_squares = 0;
  for (const auto& [value, count] : counts) {
    products += count.first * count.second;
    predicted_squares += count.first * count.first;
    actual_squares += count.second * count.second;
  }
  const double variances =
      (samples * samples - predicted_squares) * (samples * samples - actual_squares);
  return variances == 0.0 ? 0.0 : (right * samples - products) / std::sqrt(variances);
}

const MetricRegistrar kMatthews{{"matthews",
                                 "Matthews correlation of predicted and true classes; 0 where "
                                 "either list has one class only",
                                 -1.0, 1.0, matthews}};

}  // namespace
}  // namespace tersor::datasets
