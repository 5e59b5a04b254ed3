// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "protocol/job_file.hpp"

namespace tersor::workloads {

/// Throws Error(kUsage) or Error(kUnsupported) where the cell asks for what this worker or this
/// number of processes cannot do.
void check_job(const protocol::JobFile& job, int processes);

}  // namespace tersor::workloads
