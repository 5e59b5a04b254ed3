// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "common/error.hpp"

namespace tersor::harness {

namespace fs = std::filesystem;

fs::path runs_folder(const fs::path& database) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(database);
  fs::path real = fs::weakly_canonical(whole, ignored);  // one folder, whatever the spelling
  if (real.empty()) real = whole;
  real += ".runs";
  return real;
}

RunLock::RunLock(const fs::path& database) {
  const fs::path folder = runs_folder(database);
  std::error_code error;
  if (!fs::is_directory(folder.parent_path(), error))
    throw Error(ErrorKind::kMissing,
                folder.parent_path().string() +
                    ": there is no such folder for the database; make it first");
  fs::create_directory(folder, error);
  const fs::path path = folder / "lock";
  constexpr int kReadableByAll = 0644;
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kReadableByAll);
  if (file_ < 0)
    throw Error(ErrorKind::kIo, path.string() + ": cannot be made: " + std::strerror(errno) +
                                    "; spools and logs stand beside the database, so its folder "
                                    "must be writable");
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> holder{};
    const ssize_t got = read(file_, holder.data(), holder.size() - 1);
    close(file_);
    throw Error(ErrorKind::kUsage,
                database.string() + ": another tersor" +
                    (got > 0 ? " (process " + std::string(holder.data()) + ")" : std::string()) +
                    " is running cells into this database; wait for it, or give another --db");
  }
  const std::string own = std::to_string(getpid());
  if (ftruncate(file_, 0) != 0 || pwrite(file_, own.data(), own.size(), 0) < 0) {
    // Only the other's message would lack our process id.
  }
}

RunLock::~RunLock() { close(file_); }

}  // namespace tersor::harness
