// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "workloads/pipeline/schedule.hpp"
#include "workloads/pipeline/stage_boundaries.hpp"

namespace tersor::workloads {

/// Times of the actions of a step, of all stages of the process.
struct PipelineTimes {
  std::int64_t forward = 0;   ///< with encode, transfer and decode, without bubbles
  std::int64_t backward = 0;  ///< likewise
  std::int64_t bubble = 0;    ///< waited for a neighbour to begin a message
};

/// What a stage computes; the pipeline knows neither model nor task.
struct StageProgram {
  int stage = 0;
  StageBoundaries& boundaries;
  Ledger& ledger;  ///< what it leaves out is left out of the times
  /// Through the stage's blocks; `in` has no parts on the first stage. The last stage gives one
  /// scalar part: the micro-batch's share of the loss, which is to be differentiated.
  std::function<Activations(std::int64_t micro_batch, const Activations& in)> forward;
  /// Of what the stage receives.
  std::function<Shape(std::int64_t micro_batch)> in_shape;
  /// Tensors that hold the activations of this process's ranks in this pass.
  std::function<std::size_t(const PassContext&)> parts;
};

/// Runs the stages that a process hosts: one, or all of them in turn where ranks are emulated.
class Pipeline {
 public:
  /// `programs` by stage; what they refer to outlives the pipeline. `overlaps`: messages go beside
  /// the computation, and the next one is asked for ahead.
  Pipeline(std::vector<StageProgram> programs, int stages, bool overlaps);

  /// Forward and backward of all micro-batches, gradients added to those that are there. `passes`
  /// has one for each. Ends early, without the rest, once `stops` says so: where all stages are
  /// here, after a loss that is not finite.
  PipelineTimes run(const PipelineSchedule& schedule, const std::vector<Pass>& passes,
                    const std::function<bool()>& stops);
  /// One forward, without gradients. Returns what the last stage gave; no parts in a process
  /// without it.
  Activations forward(const Pass& pass);
  /// After the last forward().
  void finish();

 private:
  struct Progress;
  bool is_ready(const Progress& progress, const std::vector<Progress>& all) const;
  void expect_next(const StageProgram& program, const Progress& progress,
                   const std::vector<Pass>& passes) const;
  void run_action(const StageProgram& program, Progress& progress, const std::vector<Pass>& passes,
                  PipelineTimes& times);

  std::vector<StageProgram> programs_;
  int stages_;
  bool overlaps_;
};

}  // namespace tersor::workloads
