// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>

#include "protocol/job_file.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/stages/stage.hpp"
#include "workloads/worker/records.hpp"

namespace tersor::workloads {

/// Runs one rank of a cell in `world`, the group of all its ranks: start record (`start` with what
/// is known of the process, completed here), the stage, traffic, memory. Messages go
/// to files in `folder` where the job asks for them. Rank 0 writes what all
/// ranks share. Throws Error on bad input or a lost peer.
StageOutcome run_job(const protocol::JobFile& job, const std::filesystem::path& folder,
                     std::unique_ptr<Collective> world, Recorder& recorder, protocol::Start start);

}  // namespace tersor::workloads
