// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware/machine.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "common/affinity.hpp"
#include "common/host.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

/// The folder of this process's own control group (version 2), or empty.
fs::path control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    fs::path path = fs::path("/sys/fs/cgroup") / fs::path(line.substr(3)).relative_path();
    std::error_code ignored;
    return fs::exists(path, ignored) ? path : fs::path("/sys/fs/cgroup");
  }
  return {};
}

std::string first_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

double core_quota() {
  std::ifstream stream(control_group() / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(stream >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::atof(quota.c_str()) / period;
}

std::int64_t memory_bytes() {
  std::int64_t bytes = physical_memory_bytes();
  const std::string limit = first_word(control_group() / "memory.max");
  if (!limit.empty() && limit != "max")
    bytes = std::min<std::int64_t>(bytes, std::atoll(limit.c_str()));
  return bytes;
}

int count_gpus() {
  int count = 0;
  std::error_code ignored;
  for (int index = 0; fs::exists("/dev/nvidia" + std::to_string(index), ignored); ++index) ++count;
  return count;
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
  machine.core_quota = core_quota();
  machine.memory_bytes = memory_bytes();
  machine.gpus = count_gpus();
  return machine;
}

std::int64_t oom_kill_count() {
  std::ifstream stream(control_group() / "memory.events");
  std::string key;
  std::int64_t value = 0;
  while (stream >> key >> value)
    if (key == "oom_kill") return value;
  return -1;
}

}  // namespace tersor::harness
