// SPDX-License-Identifier: Apache-2.0
#include "datasets/metrics/metric.hpp"

#include "common/error.hpp"

namespace tersor::datasets {

std::vector<const Metric*> all_metrics() {
  std::vector<const Metric*> result;
  for (const auto& [name, metric] : Registry<Metric>::instance().entries())
    result.push_back(&metric);
  return result;
}

const Metric& find_metric(std::string_view name) { return Registry<Metric>::instance().find(name); }

double compute_metric(std::string_view name, std::span<const double> predictions,
                      std::span<const double> labels) {
  const Metric& metric = find_metric(name);
  if (predictions.size() != labels.size() || labels.empty())
    throw Error(ErrorKind::kUsage, metric.name + ": " + std::to_string(predictions.size()) +
                                       " predictions for " + std::to_string(labels.size()) +
                                       " labels; as many as labels, at least one, are expected");
  return metric.compute(predictions, labels);
}

}  // namespace tersor::datasets
