// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor::workloads {

/// Throw Error(kUsage) with value, limit and remedy where calls could not be told apart
/// (kMaxCalls).
void check_evaluation_batches(std::int64_t rows, std::int64_t micro_batch);
void check_micro_batches(std::int64_t micro_batches_per_step);

}  // namespace tersor::workloads
