// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "common/number.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// The number behind a key, in a file of lines "key number".
std::optional<std::int64_t> value_of(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  std::string name, number;
  while (stream >> name >> number)
    if (name == key) return parse_integer(number);
  return std::nullopt;
}

bool lists(const std::string& controllers, std::string_view wanted) {
  std::istringstream stream(controllers);
  for (std::string one; std::getline(stream, one, ',');)
    if (one == wanted) return true;
  return false;
}

}  // namespace

fs::path ControlGroups::find(std::string_view controller, std::string_view v2,
                             std::string_view v1) const {
  const fs::path top = root_ / "sys/fs/cgroup";
  std::ifstream file(root_ / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:memory:/a/b", version 2: "0::/a/b"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path own = fs::path(line.substr(second + 1)).relative_path();
    const bool is_unified = controllers.empty();
    if (!is_unified && !lists(controllers, controller)) continue;
    const fs::path tree = is_unified ? top : top / controller;
    // In a container the path is often that of the machine, and what is mounted is the own group.
    for (const fs::path& folder : {tree / own, tree}) {
      fs::path found = folder / (is_unified ? v2 : v1);
      std::error_code ignored;
      if (fs::is_regular_file(found, ignored)) return found;
    }
  }
  return {};
}

double ControlGroups::core_quota() const {
  const fs::path file = find("cpu", "cpu.max", "cpu.cfs_quota_us");
  std::ifstream stream(file);
  std::string quota, period;
  stream >> quota;
  if (file.filename() == "cpu.max")
    stream >> period;
  else
    period = first_word(file.parent_path() / "cpu.cfs_period_us");
  const auto most = parse_integer(quota), of = parse_integer(period);  // "max" and -1: none
  if (!most || !of || *most <= 0 || *of <= 0) return 0;
  return static_cast<double>(*most) / static_cast<double>(*of);
}

std::optional<std::int64_t> ControlGroups::memory_bytes() const {
  return parse_integer(first_word(find("memory", "memory.max", "memory.limit_in_bytes")));
}

std::int64_t ControlGroups::oom_kills() const {
  const auto of_group = value_of(find("memory", "memory.events", "memory.oom_control"), "oom_kill");
  if (of_group) return *of_group;
  return value_of(root_ / "proc/vmstat", "oom_kill").value_or(-1);
}

}  // namespace tersor::harness
