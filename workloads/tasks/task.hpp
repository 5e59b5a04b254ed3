// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.hpp"

namespace at {
class Tensor;
}
namespace tersor::datasets {
struct Batch;
struct DatasetInfo;
}  // namespace tersor::datasets

namespace tersor::workloads {

/// What the batches of an evaluation add up to.
struct TaskScores {
  double loss_sum = 0;              ///< over `count` items
  std::int64_t count = 0;           ///< rows; tokens where the loss is per token
  std::vector<double> predictions;  ///< one per row, or none where metrics need none
  std::vector<double> labels;       ///< likewise
};

struct MetricValue {
  std::string name;
  double value = 0;  ///< NaN where undefined
};

/// What is learned: from a model's output for a batch to loss, predictions and metrics. Holds no
/// state; a loop calls it without knowing what batches and outputs contain.
class Task {
 public:
  virtual ~Task() = default;
  /// Width of the model's last dimension: classes, scores, vocabulary.
  virtual std::int64_t outputs() const = 0;
  /// Mean over the batch's items; a scalar that gradients flow through.
  virtual at::Tensor loss(const at::Tensor& output, const datasets::Batch& batch) const = 0;
  /// Adds a batch of an evaluation to `scores`.
  virtual void score(const at::Tensor& output, const datasets::Batch& batch,
                     TaskScores& scores) const = 0;
  /// Of a whole split, the primary one first.
  virtual std::vector<MetricValue> metrics(const TaskScores& scores) const = 0;
};

/// One task. Put one TaskRegistrar at the end of tasks/NAME.cpp.
struct TaskInfo {
  static constexpr std::string_view kKind = "task";
  std::string name;
  std::string summary;
  /// Whether the data set asks for this task. One task fits a data set.
  std::function<bool(const datasets::DatasetInfo&)> fits;
  std::function<std::unique_ptr<Task>(const datasets::DatasetInfo&)> make;
};
using TaskRegistrar = Registrar<TaskInfo>;

/// The task that fits a data set. Throws Error(kInternal) where none does, or several do.
const TaskInfo& find_task(const datasets::DatasetInfo& dataset);

/// The data set's metrics of one prediction per row.
std::vector<MetricValue> row_metrics(const std::vector<std::string>& names,
                                     const TaskScores& scores);

}  // namespace tersor::workloads
