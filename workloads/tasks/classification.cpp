// SPDX-License-Identifier: Apache-2.0
// One class of several per row: cross-entropy, the class of the largest logit.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "workloads/comm/tensor.hpp"
#include "workloads/tasks/task.hpp"

namespace tersor::workloads {
namespace {

class Classification : public Task {
 public:
  explicit Classification(const datasets::DatasetInfo& dataset)
      : classes_(dataset.classes), metrics_(dataset.metrics) {}

  std::int64_t outputs() const override { return classes_; }

  at::Tensor loss(const at::Tensor& output, const datasets::Batch& batch) const override {
    at::Tensor labels = at::empty({batch.rows}, at::kLong);
    std::copy(batch.labels.begin(), batch.labels.end(), labels.mutable_data_ptr<std::int64_t>());
    return at::cross_entropy_loss(output, labels);
  }

  void score(const at::Tensor& output, const datasets::Batch& batch,
             TaskScores& scores) const override {
    scores.add_loss(static_cast<double>(loss(output, batch).item<float>()), batch.rows);
    const std::span<const float> values = floats_of(output);
    const auto width = static_cast<std::size_t>(classes_);
    for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
      const auto logits = values.subspan(row * width, width);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      scores.add_row(logits, static_cast<double>(best), batch.labels[row]);
    }
  }

  std::vector<MetricValue> metrics(const TaskScores& scores) const override {
    return row_metrics(metrics_, scores);
  }

 private:
  std::int64_t classes_;
  std::vector<std::string> metrics_;
};

const TaskRegistrar registrar({
    .name = "classification",
    .summary = "one class of several per row",
    .fits = [](const datasets::DatasetInfo& dataset) { return dataset.classes > 0; },
    .make = [](const datasets::DatasetInfo& dataset) -> std::unique_ptr<Task> {
      return std::make_unique<Classification>(dataset);
    },
});

}  // namespace
}  // namespace tersor::workloads
