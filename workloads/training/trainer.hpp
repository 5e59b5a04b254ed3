// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/cell.hpp"
#include "workloads/models/model.hpp"

namespace tersor::workloads {

/// Nanoseconds on the steady clock. Encode, transfer and decode are parts of forward and backward.
struct StepTimes {
  std::int64_t total = 0;
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  std::int64_t optimizer = 0;
  std::int64_t encode = 0;
  std::int64_t transfer = 0;
  std::int64_t decode = 0;
};

struct StepResult {
  double loss = 0;
  double gradient_norm = 0;  ///< before clipping, of the whole model
  bool is_finite = true;     ///< of the loss; else nothing was updated
  StepTimes ns;
};

/// Sums over the rows of one batch, and its predictions: class index, or score.
struct EvalResult {
  double loss_sum = 0;
  std::vector<double> predictions;
};

/// Runs a model's steps: loss (cross-entropy over classes, squared error of one score), gradients,
/// clipping by the global norm, AdamW.
class Trainer {
 public:
  /// References must outlive the trainer.
  Trainer(Model& model, TensorParallel& group, const protocol::Cell& config, std::int64_t outputs);
  ~Trainer();

  StepResult step(const datasets::Batch& batch, const Pass& pass, double learning_rate);
  EvalResult evaluate(const datasets::Batch& batch, const Pass& pass);
  /// Forward and backward alone; leaves the gradients in the parameters.
  double compute_gradients(const datasets::Batch& batch, const Pass& pass);
  /// XXH64 over all replicated parameters, in order.
  std::uint64_t replicated_hash() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tersor::workloads
