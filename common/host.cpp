// SPDX-License-Identifier: Apache-2.0
#include "common/host.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

namespace tersor {

std::string host_name() {
  std::array<char, 256> text{};
  gethostname(text.data(), text.size() - 1);
  return text.data();
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

std::int64_t physical_memory_bytes() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * std::int64_t{sysconf(_SC_PAGE_SIZE)};
}

}  // namespace tersor
