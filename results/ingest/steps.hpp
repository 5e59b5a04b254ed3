// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "results/ingest/spool.hpp"

namespace tersor::results {

/// Times of the steps of a run, one array per part (protocol::kStepParts), one value per step, ns.
struct StepSeries {
  int rank = -1;  ///< -1: over ranks
  std::vector<std::int64_t> steps;
  std::array<std::vector<double>, protocol::kStepParts.size()> parts;
};

/// Each rank's own times.
StepSeries rank_times(const RankSpool& spool);

/// Over ranks: the slowest rank of each step (the lowest of equals) gives the step's total and its
/// parts, so that the parts belong together. Steps that some rank of the run lacks are left out:
/// their maximum is not known.
StepSeries slowest_times(const Spool& spool);

/// How many leading steps a summary leaves out: the first tenth, at most 5 (first touch, allocator
/// growth, connections), and all steps before the compression starts (`warmup`: "N" steps or
/// "N epochs"), unless none would be left.
std::int64_t skipped_steps(const std::vector<protocol::Step>& steps, const std::string& warmup);

}  // namespace tersor::results
