// SPDX-License-Identifier: Apache-2.0
#include "harness/launch/launcher.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "common/absolute_path.hpp"
#include "common/error.hpp"

namespace tersor::harness {

namespace fs = std::filesystem;

bool Job::is_running() const {
  return std::any_of(ends_.begin(), ends_.end(), [](const auto& end) { return !end; });
}

void Job::note_end(int rank, const ProcessEnd& end) {
  ends_.at(static_cast<std::size_t>(rank)) = end;
  if (first_failure_ < 0 && end.status() != 0) first_failure_ = rank;
}

const Launcher& find_launcher(std::string_view name) {
  return *Registry<LauncherInfo>::instance().find(name).launcher;
}

fs::path find_worker() {
  std::error_code error;
  if (const char* given = std::getenv("TERSOR_WORKER"); given && *given) {
    if (access(given, X_OK) != 0)
      throw Error(ErrorKind::kMissing, std::string("TERSOR_WORKER=") + given + ": " +
                                           std::strerror(errno) + "; give an executable file");
    return absolute_path(given);
  }
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "tersor-worker";
  if (access(beside.c_str(), X_OK) != 0)
    throw Error(ErrorKind::kMissing,
                beside.string() + ": " + std::strerror(errno) +
                    "; build it with scripts/demo or scripts/test, or set TERSOR_WORKER");
  return beside;
}

}  // namespace tersor::harness
