// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.hpp"

namespace tersor::workloads {

/// A forward or a backward of one micro-batch on one stage.
struct Action {
  enum class Kind : std::uint8_t { kForward, kBackward };
  Kind kind = Kind::kForward;
  std::int64_t micro_batch = 0;
  friend bool operator==(const Action&, const Action&) = default;
};

/// The order in which a stage of a pipeline works. Backwards come in the order of micro-batches, so
/// that every schedule adds the same gradients in the same order.
struct PipelineSchedule {
  static constexpr std::string_view kKind = "pipeline schedule";
  std::string name;
  std::string summary;
  /// Of one stage in a step: every micro-batch forward once and then backward once.
  std::function<std::vector<Action>(int stage, int stages, std::int64_t micro_batches)> actions;
};
using PipelineScheduleRegistrar = Registrar<PipelineSchedule>;

/// Throws Error(kUsage) with the nearest name.
inline const PipelineSchedule& find_pipeline_schedule(std::string_view name) {
  return Registry<PipelineSchedule>::instance().find(name);
}

}  // namespace tersor::workloads
