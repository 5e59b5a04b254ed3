// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "workloads/comm/collective.hpp"
#include "workloads/training/job_file.hpp"
#include "workloads/training/records.hpp"

namespace tersor::workloads {

struct JobOutcome {
  bool is_diverged = false;
  std::string reason;
  std::int64_t steps = 0;
  std::string checksum;  ///< 16 hex digits: replicated parameters, then the losses
};

/// Runs one rank of a cell: start record (`start` with what is known of the process, completed
/// here), steps, evaluations, traffic, memory. Rank 0 writes what all ranks share. Every rank gets
/// the same losses and stops at the same step. Throws Error on bad input or a lost peer.
JobOutcome run_job(const JobFile& job, std::unique_ptr<Collective> collective, Recorder& recorder,
                   nlohmann::ordered_json start);

}  // namespace tersor::workloads
