// SPDX-License-Identifier: Apache-2.0
#include "harness/launch/orphaned_workers.hpp"

#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "common/file_part.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

/// Processes whose command line has "--spool" and then exactly this folder.
std::vector<pid_t> ranks_of(const fs::path& folder) {
  const std::string wanted = std::string("--spool") + '\0' + folder.string() + '\0';
  std::vector<pid_t> pids;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    constexpr std::size_t kLongest = std::size_t{6} << 20;  // the kernel's limit
    std::error_code gone;                                   // a process that has ended meanwhile
    const std::string line = read_part(entry->path() / "cmdline", 0, kLongest, gone);
    if (line.find(wanted) != std::string::npos) pids.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return pids;
}

}  // namespace

int end_orphaned_workers(const fs::path& folder) {
  constexpr int kLooks = 40;
  constexpr std::chrono::milliseconds kPause{50};
  for (int look = 0; look < kLooks; ++look) {
    if (ranks_of(folder).empty()) return 0;
    std::this_thread::sleep_for(kPause);
  }
  const std::vector<pid_t> pids = ranks_of(folder);
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  for (int look = 0; look < kLooks && !ranks_of(folder).empty(); ++look)
    std::this_thread::sleep_for(kPause);
  return static_cast<int>(pids.size());
}

}  // namespace tersor::harness
