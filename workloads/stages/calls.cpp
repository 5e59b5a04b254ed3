// SPDX-License-Identifier: Apache-2.0
#include "workloads/stages/calls.hpp"

#include <string>

#include "common/error.hpp"
#include "datasets/batches.hpp"
#include "workloads/messages/pass.hpp"

namespace tersor::workloads {

void check_evaluation_batches(std::int64_t rows, std::int64_t micro_batch) {
  const std::int64_t batches = datasets::evaluation_batches(rows, micro_batch);
  if (batches <= kMaxCalls) return;
  const std::int64_t least = (rows + kMaxCalls - 1) / kMaxCalls;
  throw Error(ErrorKind::kUsage, "an evaluation of " + std::to_string(rows) +
                                     " rows by micro_batch " + std::to_string(micro_batch) +
                                     " has " + std::to_string(batches) + " batches, more than " +
                                     std::to_string(kMaxCalls) +
                                     "; raise micro_batch to at least " + std::to_string(least) +
                                     ", or lower eval_rows");
}

}  // namespace tersor::workloads
