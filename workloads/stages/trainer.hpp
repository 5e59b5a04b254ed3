// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datasets/batches.hpp"
#include "protocol/records.hpp"
#include "workloads/comm/mesh.hpp"
#include "workloads/messages/pass.hpp"
#include "workloads/models/model.hpp"
#include "workloads/optim/optimizer.hpp"
#include "workloads/pipeline/schedule.hpp"
#include "workloads/tasks/task.hpp"

namespace tersor::workloads {

class Pipeline;
class StageBoundaries;
class TensorParallel;
struct PipelineTimes;
struct StageProgram;

struct StepResult {
  double loss = 0;             ///< mean over the items of the step
  double gradient_norm = 0;    ///< before clipping, of the whole model
  bool is_finite = true;       ///< of the loss; else nothing was updated
  protocol::StepTimes ns;      ///< on the steady clock
  std::int64_t bubble_ns = 0;  ///< waited for a neighbouring stage to begin a message
};

/// What a process has of one stage of the pipeline. References outlive whoever holds it.
struct LocalStage {
  int stage = 0;
  Model& model;
  TensorParallel& group;
  StageBoundaries& boundaries;
};

/// A batch and the pass that it makes.
struct MicroBatch {
  datasets::Batch batch;
  Pass pass;
};

/// Runs the steps of a model at a task: loss, gradients, clipping by the global norm, update.
class Trainer {
 public:
  /// `stages`: those of this process, ascending. `clip`: largest global norm of the gradients; 0:
  /// off. References must outlive the trainer.
  Trainer(Mesh& mesh, std::vector<LocalStage> stages, const Task& task, Optimizer& optimizer,
          const protocol::Cell& cell);

  ~Trainer();
  /// The gradient is that of the mean over all items of the micro-batches.
  StepResult step(std::span<const MicroBatch> micro_batches, double learning_rate);
  /// Forward and backward alone; leaves the gradients in the parameters. Returns the mean loss, on
  /// ranks of the last stage.
  double compute_gradients(std::span<const MicroBatch> micro_batches);
  /// Adds the batch to `scores` where the last stage is.
  void evaluate(const datasets::Batch& batch, const Pass& pass, TaskScores& scores);
  /// After the last batch of an evaluation: all ranks have the scores.
  void share(TaskScores& scores);
  /// XXH64 over all replicated parameters, in order, stage by stage; equal on all ranks.
  std::uint64_t replicated_hash();

 private:
  struct Sums {
    double norm = 0;
    double loss = 0;
  };
  std::vector<StageProgram> programs();
  Activations forward(const LocalStage& at, std::int64_t micro_batch, const Activations& in);
  PipelineTimes run(std::span<const MicroBatch> micro_batches);
  Sums sum_over_ranks();
  void update(double learning_rate, float scale);
  bool has_last_stage() const;
  std::int64_t excluded_ns() const;

  Mesh& mesh_;
  std::vector<LocalStage> stages_;
  const Task& task_;
  Optimizer& optimizer_;
  double clip_;
  const PipelineSchedule& schedule_;
  std::unique_ptr<Pipeline> pipeline_;
  // The step under way:
  std::span<const MicroBatch> micro_batches_;
  std::int64_t items_ = 0;
  double loss_ = 0;
};

}  // namespace tersor::workloads
