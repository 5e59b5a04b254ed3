// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace tersor::harness {

/// `FILE.runs` beside a database: spools, logs and the lock of its one harness.
std::filesystem::path runs_folder(const std::filesystem::path& database);

/// Holds a database for one harness; the kernel lets go of it however this process ends.
class RunLock {
 public:
  /// Makes the runs folder. Throws Error(kUsage) with the holder's process id where another harness
  /// has the database, Error(kIo) where the folder cannot be made.
  explicit RunLock(const std::filesystem::path& database);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace tersor::harness
