// SPDX-License-Identifier: Apache-2.0
#include "datasets/metrics/metric.hpp"

#include <map>

#include "common/error.hpp"
#include "common/nearest.hpp"

namespace tersor::datasets {
namespace {

using Registry = std::map<std::string, Metric, std::less<>>;

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

MetricRegistrar::MetricRegistrar(Metric metric) {
  const std::string name = metric.name;
  const bool is_new = registry().emplace(name, std::move(metric)).second;
  TERSOR_CHECK(is_new, "metric '" + name + "' is registered twice");
}

std::vector<const Metric*> all_metrics() {
  std::vector<const Metric*> result;
  for (const auto& [name, metric] : registry()) result.push_back(&metric);
  return result;
}

const Metric& find_metric(std::string_view name) {
  const auto found = registry().find(name);
  if (found != registry().end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, metric] : registry()) known.push_back(other);
  throw Error(ErrorKind::kUsage,
              "unknown metric '" + std::string(name) + "'" + known_names_hint(name, known));
}

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
