// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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
  double loss_sum = 0;     ///< over `count` items
  std::int64_t count = 0;  ///< rows; tokens where the loss is per token
  /// One per row, or none where metrics need none; NaN where a model's output for the row was not
  /// finite.
  std::vector<double> predictions;
  std::vector<double> labels;  ///< likewise
  bool is_finite = true;       ///< all outputs of the model, and the loss

  /// The mean loss of a batch of `items`.
  void add_loss(double mean, std::int64_t items);
  /// `output` is what the model gave for the row.
  void add_row(std::span<const float> output, double prediction, double label);
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
  /// What the loss is a mean over: rows, or tokens.
  virtual std::int64_t items(const datasets::Batch& batch) const;
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

/// The data set's metrics of one prediction per row; NaN where a score was not finite.
std::vector<MetricValue> row_metrics(const std::vector<std::string>& names,
                                     const TaskScores& scores);

}  // namespace tersor::workloads
