// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/schedule.hpp"

#include <cmath>

namespace tersor::workloads {

double learning_rate_at(std::int64_t step, std::int64_t steps, double fraction, double peak) {
  const auto warmup = static_cast<std::int64_t>(std::floor(fraction * static_cast<double>(steps)));
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  return peak * static_cast<double>(steps - step) / static_cast<double>(steps - warmup);
}

}  // namespace tersor::workloads
