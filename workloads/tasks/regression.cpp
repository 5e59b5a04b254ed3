// SPDX-License-Identifier: Apache-2.0
// One score per row: squared error.
#include <ATen/ops/mse_loss.h>

#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "workloads/comm/tensor.hpp"
#include "workloads/tasks/task.hpp"

namespace tersor::workloads {
namespace {

class Regression : public Task {
 public:
  explicit Regression(const datasets::DatasetInfo& dataset) : metrics_(dataset.metrics) {}

  std::int64_t outputs() const override { return 1; }

  at::Tensor loss(const at::Tensor& output, const datasets::Batch& batch) const override {
    return at::mse_loss(output.view({batch.rows}), tensor_from(batch.labels, {{batch.rows}}));
  }

  void score(const at::Tensor& output, const datasets::Batch& batch,
             TaskScores& scores) const override {
    scores.add_loss(static_cast<double>(loss(output, batch).item<float>()), batch.rows);
    const std::span<const float> values = floats_of(output);
    for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row)
      scores.add_row(values.subspan(row, 1), values[row], batch.labels[row]);
  }

  std::vector<MetricValue> metrics(const TaskScores& scores) const override {
    return row_metrics(metrics_, scores);
  }

 private:
  std::vector<std::string> metrics_;
};

const TaskRegistrar registrar({
    .name = "regression",
    .summary = "one score per row",
    .fits = [](const datasets::DatasetInfo& dataset) { return dataset.classes == 0; },
    .make = [](const datasets::DatasetInfo& dataset) -> std::unique_ptr<Task> {
      return std::make_unique<Regression>(dataset);
    },
});

}  // namespace
}  // namespace tersor::workloads
