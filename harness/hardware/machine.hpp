// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tersor::harness {

/// What this machine lets this process use.
struct Machine {
  std::string host;
  std::string cpu;
  std::vector<int> cores;         ///< the affinity mask, ascending
  double core_quota = 0;          ///< the control group's limit in cores; 0: none
  std::int64_t memory_bytes = 0;  ///< physical, or the control group's limit where that is less
  int gpus = 0;                   ///< device files of NVIDIA GPUs
  std::string network_problem;    ///< why ranks cannot meet on this machine; empty: they can

  /// Cores that can be busy at once.
  int usable_cores() const;
};

Machine probe_machine();

/// How often the kernel killed a process for want of memory so far, or -1 where that cannot be
/// read.
std::int64_t oom_kill_count();

}  // namespace tersor::harness
