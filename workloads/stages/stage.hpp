// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.hpp"
#include "protocol/cell.hpp"
#include "workloads/messages/pass.hpp"
#include "workloads/optim/optimizer.hpp"
#include "workloads/optim/schedule.hpp"
#include "workloads/stages/batch_source.hpp"
#include "workloads/stages/trainer.hpp"
#include "workloads/tasks/task.hpp"

namespace tersor::workloads {

/// One step of training that was done.
struct StepReport {
  std::int64_t step = 0;  ///< from 0
  std::int64_t steps = 0;
  std::int64_t epoch = 0;
  double learning_rate = 0;
  StepResult result{};
  std::vector<ErrorSample> errors{};
  std::vector<StoredMessage> messages{};
};

/// An evaluation of a whole split.
struct Evaluation {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  bool is_compressed = true;
  double loss = 0;
  std::int64_t ns = 0;
  TaskScores scores{};
  std::vector<MetricValue> metrics{};  ///< the primary one first
};

/// Takes what a stage reports, on every rank.
class StageRecorder {
 public:
  virtual ~StageRecorder() = default;
  virtual void record(const StepReport& report) = 0;
  virtual void record(const Evaluation& evaluation) = 0;
};

/// What a stage works with. References outlive the stage.
struct StageContext {
  const protocol::Cell& cell;
  std::uint64_t seed = 0;
  Mesh& mesh;
  std::vector<LocalStage> stages;  ///< of this process
  const Task& task;
  Optimizer& optimizer;
  const ScheduleInfo& schedule;
  const BatchSource& train;
  const BatchSource& dev;
  StageRecorder& recorder;
  std::int64_t error_every = 0;     ///< sample compression errors every N steps; 0: never
  std::int64_t messages_every = 0;  ///< store rank 0's messages every N steps; 0: never
};

/// How a stage ended. All ranks have the same losses and stop at the same step.
struct StageOutcome {
  bool is_diverged = false;
  std::string reason;
  std::int64_t steps = 0;
  std::string checksum;  ///< 16 hex digits: replicated parameters, then the losses
};

/// The loop of a cell: which batches, when to step, evaluate, report and stop.
class Stage {
 public:
  virtual ~Stage() = default;
  /// Planned ones.
  virtual std::int64_t steps() const = 0;
  virtual StageOutcome run() = 0;
};

/// One stage. Put one StageRegistrar at the end of stages/NAME.cpp.
struct StageInfo {
  static constexpr std::string_view kKind = "stage";
  std::string name;
  std::string summary;
  /// Throws Error(kUsage) where cell and data do not go together.
  std::function<std::unique_ptr<Stage>(const StageContext&)> make;
};
using StageRegistrar = Registrar<StageInfo>;

/// Throws Error(kUsage) with the nearest name.
inline const StageInfo& find_stage(std::string_view name) {
  return Registry<StageInfo>::instance().find(name);
}

}  // namespace tersor::workloads
