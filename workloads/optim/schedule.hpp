// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/registry.hpp"

namespace tersor::workloads {

/// One schedule of the learning rate. Put one ScheduleRegistrar at the end of the file of its
/// function in optim/.
struct ScheduleInfo {
  static constexpr std::string_view kKind = "schedule";
  std::string name;
  std::string summary;
  /// Learning rate of `step` (from 0) of `steps`; `fraction` of them warm up to `peak`.
  double (*rate)(std::int64_t step, std::int64_t steps, double fraction, double peak) = nullptr;
};
using ScheduleRegistrar = Registrar<ScheduleInfo>;

/// Throws Error(kUsage) with the nearest name.
inline const ScheduleInfo& find_schedule(std::string_view name) {
  return Registry<ScheduleInfo>::instance().find(name);
}

/// "linear": warm-up over w = floor(fraction * steps) steps, (step + 1) / w of the peak, then
/// linear decay, (steps - step) / (steps - w), which would be 0 at step `steps`.
double linear_learning_rate(std::int64_t step, std::int64_t steps, double fraction, double peak);

}  // namespace tersor::workloads
