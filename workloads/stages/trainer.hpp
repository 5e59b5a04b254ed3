// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>

#include "protocol/records.hpp"
#include "workloads/messages/pass.hpp"
#include "workloads/models/model.hpp"
#include "workloads/optim/optimizer.hpp"
#include "workloads/tasks/task.hpp"

namespace tersor::workloads {

struct StepResult {
  double loss = 0;
  double gradient_norm = 0;  ///< before clipping, of the whole model
  bool is_finite = true;     ///< of the loss; else nothing was updated
  protocol::StepTimes ns;    ///< on the steady clock
};

/// Runs the steps of a model at a task: loss, gradients, clipping by the global norm, update.
class Trainer {
 public:
  /// `clip`: largest global norm of the gradients; 0: off. References must outlive the trainer.
  Trainer(Model& model, TensorParallel& group, const Task& task, Optimizer& optimizer, double clip);

  StepResult step(const datasets::Batch& batch, const Pass& pass, double learning_rate);
  /// Adds the batch to `scores`.
  void evaluate(const datasets::Batch& batch, const Pass& pass, TaskScores& scores);
  /// Forward and backward alone; leaves the gradients in the parameters.
  double compute_gradients(const datasets::Batch& batch, const Pass& pass);
  /// XXH64 over all replicated parameters, in order.
  std::uint64_t replicated_hash() const;

 private:
  double global_norm();
  void update(double learning_rate, float scale);

  Model& model_;
  TensorParallel& group_;
  const Task& task_;
  Optimizer& optimizer_;
  double clip_;
};

}  // namespace tersor::workloads
