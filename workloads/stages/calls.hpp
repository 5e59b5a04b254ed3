// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor::workloads {

/// Throws Error(kUsage) with value, limit and remedy where the batches of an evaluation could not
/// be told apart (kMaxCalls).
void check_evaluation_batches(std::int64_t rows, std::int64_t micro_batch);

}  // namespace tersor::workloads
