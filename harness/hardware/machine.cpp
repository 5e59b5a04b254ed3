// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/affinity.hpp"
#include "common/endpoint.hpp"
#include "common/error.hpp"
#include "common/host.hpp"
#include "harness/hardware/control_group.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

std::int64_t memory_bytes() {
  const std::int64_t bytes = physical_memory_bytes();
  return std::min(bytes, ControlGroups().memory_bytes().value_or(bytes));
}

int count_gpus() {
  int count = 0;
  std::error_code ignored;
  for (int index = 0; fs::exists("/dev/nvidia" + std::to_string(index), ignored); ++index) ++count;
  return count;
}

/// Ranks that cannot reach each other wait for each other in silence, so this is tried first.
std::string network_problem() {
  try {
    check_reachable(kLoopback);
    if (const char* name = std::getenv("GLOO_SOCKET_IFNAME"); name && *name)
      address_of_interface(name);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

int Machine::usable_cores() const {
  const int all = static_cast<int>(cores.size());
  return core_quota > 0 ? std::max(1, std::min(all, static_cast<int>(std::ceil(core_quota - 0.01))))
                        : all;
}

Machine probe_machine() {
  Machine machine;
  machine.host = host_name();
  machine.cpu = cpu_name();
  if (machine.cpu.empty()) machine.cpu = "unknown CPU";
  machine.cores = allowed_cores();
  if (machine.cores.empty()) machine.cores.push_back(0);
  machine.core_quota = ControlGroups().core_quota();
  machine.memory_bytes = memory_bytes();
  machine.gpus = count_gpus();
  machine.network_problem = network_problem();
  return machine;
}

std::int64_t oom_kill_count() { return ControlGroups().oom_kills(); }

}  // namespace tersor::harness
