// SPDX-License-Identifier: Apache-2.0
#include "workloads/optim/schedule.hpp"

#include <cmath>

namespace tersor::workloads {

double linear_learning_rate(std::int64_t step, std::int64_t steps, double fraction, double peak) {
  const auto warmup = static_cast<std::int64_t>(std::floor(fraction * static_cast<double>(steps)));
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  return peak * static_cast<double>(steps - step) / static_cast<double>(steps - warmup);
}

namespace {
const ScheduleRegistrar linear_registrar({"linear", "warm-up, then linear decay to 0",
                                          linear_learning_rate});
}  // namespace
}  // namespace tersor::workloads
