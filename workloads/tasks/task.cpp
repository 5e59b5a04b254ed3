// SPDX-License-Identifier: Apache-2.0
#include "workloads/tasks/task.hpp"

#include "common/error.hpp"
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

std::vector<MetricValue> row_metrics(const std::vector<std::string>& names,
                                     const TaskScores& scores) {
  std::vector<MetricValue> values;
  for (const std::string& name : names)
    values.push_back({name, datasets::compute_metric(name, scores.predictions, scores.labels)});
  return values;
}

}  // namespace tersor::workloads
