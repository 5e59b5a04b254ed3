// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "workloads/comm/collective.hpp"
#include "workloads/stages/stage.hpp"
#include "workloads/worker/job_file.hpp"
#include "workloads/worker/records.hpp"

namespace tersor::workloads {

/// Runs one rank of a cell in `world`, the group of all its ranks: start record (`start` with what
/// is known of the process, completed here), the stage, traffic, memory. Rank 0 writes what all
/// ranks share. Throws Error on bad input or a lost peer.
StageOutcome run_job(const JobFile& job, std::unique_ptr<Collective> world, Recorder& recorder,
                     nlohmann::ordered_json start);

}  // namespace tersor::workloads
