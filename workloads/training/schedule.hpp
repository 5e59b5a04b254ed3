// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor::workloads {

/// Learning rate of `step` (from 0) of `steps`: warm-up over w = floor(fraction * steps) steps,
/// (step + 1) / w of the peak, then linear decay, (steps - step) / (steps - w), which would be 0 at
/// step `steps`.
double learning_rate_at(std::int64_t step, std::int64_t steps, double fraction, double peak);

}  // namespace tersor::workloads
