// SPDX-License-Identifier: Apache-2.0
#include "common/affinity.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>

namespace tersor {

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::vector<int> cores_of_rank(std::span<const int> cores, int local_rank, int threads) {
  std::vector<int> mine;
  const int most = std::min(threads, static_cast<int>(cores.size()));
  for (int thread = 0; thread < most; ++thread)
    mine.push_back(cores[static_cast<std::size_t>(local_rank * threads + thread) % cores.size()]);
  return mine;
}

bool pin_to_cores(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace tersor
