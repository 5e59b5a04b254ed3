// SPDX-License-Identifier: Apache-2.0
#include "workloads/tasks/task.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "datasets/metrics/metric.hpp"

namespace tersor::workloads {

const TaskInfo& find_task(const datasets::DatasetInfo& dataset) {
  const TaskInfo* found = nullptr;
  for (const auto& [name, task] : Registry<TaskInfo>::instance().entries()) {
    if (!task.fits(dataset)) continue;
    TERSOR_CHECK(!found, "data set '" + dataset.name + "' fits the tasks '" + found->name +
                             "' and '" + name + "'");
    found = &task;
  }
  TERSOR_CHECK(found, "no task fits data set '" + dataset.name + "'");
  return *found;
}

void TaskScores::add_loss(double mean, std::int64_t items) {
  loss_sum += mean * static_cast<double>(items);
  count += items;
  is_finite = is_finite && std::isfinite(mean);
}

void TaskScores::add_row(std::span<const float> output, double prediction, double label) {
  const bool is_number =
      std::all_of(output.begin(), output.end(), [](float value) { return std::isfinite(value); });
  is_finite = is_finite && is_number;
  predictions.push_back(is_number ? prediction : std::numeric_limits<double>::quiet_NaN());
  labels.push_back(label);
}

std::int64_t Task::items(const datasets::Batch& batch) const { return batch.rows; }

std::vector<MetricValue> row_metrics(const std::vector<std::string>& names,
                                     const TaskScores& scores) {
  std::vector<MetricValue> values;
  for (const std::string& name : names)
    values.push_back({name, scores.is_finite
                                ? datasets::compute_metric(name, scores.predictions, scores.labels)
                                : std::numeric_limits<double>::quiet_NaN()});
  return values;
}

}  // namespace tersor::workloads
