// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

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
  std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::int64_t>(sysconf(_SC_PAGE_SIZE));
  const std::string limit = first_word(control_group() / "memory.max");
  if (!limit.empty() && limit != "max")
    bytes = std::min<std::int64_t>(bytes, std::atoll(limit.c_str()));
  return bytes;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0)
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::vector<int> usable_core_numbers() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  if (cores.empty()) cores.push_back(0);
  return cores;
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
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  Machine machine;
  machine.host = host.data();
  machine.cpu = cpu_name();
  machine.cores = usable_core_numbers();
  machine.core_quota = core_quota();
  machine.memory_bytes = memory_bytes();
  machine.gpus = count_gpus();
  return machine;
}

Feasibility judge_hardware(const protocol::Hardware& hardware, const Machine& machine) {
  constexpr int kThreadsPerCore = 2;
  if (hardware.kind != "measured" && hardware.kind != "emulated")
    return {"hardware of kind '" + hardware.kind + "' is not built yet", ""};
  if (!hardware.link.empty()) return {"links (here '" + hardware.link + "') are not built yet", ""};
  if (hardware.device != "cpu")
    return {"device '" + hardware.device + "' is not built yet: ranks run on CPU cores", ""};
  if (hardware.pp > 1)
    return {"pipeline stages (here " + std::to_string(hardware.pp) + ") are not built yet", ""};
  const int needs = hardware.processes() * hardware.threads;
  const int has = machine.usable_cores();
  const std::string counts =
      std::to_string(needs) + " cores, this machine has " + std::to_string(has);
  if (needs > has * kThreadsPerCore) return {"needs " + counts, ""};
  if (needs > has)
    return {"", "oversubscribed: wants " + counts + "; its times are not comparable"};
  return {};
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
