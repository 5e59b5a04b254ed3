// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/process.hpp"
#include "common/registry.hpp"
#include "protocol/cell.hpp"

namespace tersor::harness {

/// One job to start.
struct LaunchSpec {
  std::filesystem::path worker;  ///< tersor-worker
  std::filesystem::path folder;  ///< of cell.json; the ranks write their spools into it
  protocol::Hardware hardware;
  std::vector<int> cores;  ///< to pin ranks to, in order; reused where there are too few
};

/// The ranks of one job that was started. Its destructor kills whatever is left, and comes back
/// when that is gone.
class Job {
 public:
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Notes who has ended since; true where somebody newly has. Does not wait.
  virtual bool poll() = 0;
  /// To every process of the job, children of the ranks included.
  virtual void signal(int number) = 0;

  int ranks() const { return static_cast<int>(ends_.size()); }
  bool is_running() const;
  /// How a rank ended, or nothing while it runs.
  const std::optional<ProcessEnd>& end(int rank) const {
    return ends_.at(static_cast<std::size_t>(rank));
  }
  /// The first rank seen to end otherwise than with exit status 0, or -1.
  int first_failure() const { return first_failure_; }

 protected:
  explicit Job(int ranks) : ends_(static_cast<std::size_t>(ranks)) {}
  void note_end(int rank, const ProcessEnd& end);

 private:
  std::vector<std::optional<ProcessEnd>> ends_;
  int first_failure_ = -1;
};

/// Where a rank's output is.
struct RankLogs {
  std::filesystem::path output;  ///< standard output: progress of rank 0, as JSON lines
  std::filesystem::path errors;
};

/// A way to start one process per rank with torchrun's environment (RANK, WORLD_SIZE, LOCAL_RANK,
/// MASTER_ADDR, MASTER_PORT). What it started is found again by the job's folder, so that a harness
/// can settle what another one left.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Starts all ranks. Throws Error(kIo) where one cannot be started; then none is left.
  virtual std::unique_ptr<Job> start(const LaunchSpec& spec) const = 0;
  /// Ends the ranks of `folder` that a dead harness left behind; returns how many had to be killed.
  virtual int end_orphans(const std::filesystem::path& folder) const = 0;
  virtual RankLogs logs(const std::filesystem::path& folder, int rank) const = 0;
};

/// Put one LauncherRegistrar at the end of harness/launch/NAME_launcher.cpp; no list names it.
struct LauncherInfo {
  static constexpr std::string_view kKind = "launcher";
  std::string name;
  std::string summary;  ///< one line
  std::shared_ptr<const Launcher> launcher;
};
using LauncherRegistrar = Registrar<LauncherInfo>;

/// Throws Error(kUsage) with the nearest and the known names.
const Launcher& find_launcher(std::string_view name);

/// The worker program: TERSOR_WORKER, or tersor-worker beside this program. Throws Error(kMissing)
/// with what to do.
std::filesystem::path find_worker();

}  // namespace tersor::harness
