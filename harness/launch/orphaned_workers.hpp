// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace tersor::harness {

/// Waits for ranks that a dead harness left behind (they were started with `folder` as --spool and
/// are told to end by the kernel) and kills those that are still there after two seconds. Returns
/// how many it had to kill.
int end_orphaned_workers(const std::filesystem::path& folder);

}  // namespace tersor::harness
