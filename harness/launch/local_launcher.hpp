// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/process.hpp"
#include "protocol/cell.hpp"

namespace tersor::harness {

/// A free TCP port of the loopback interface, held (bound, never listening, address reuse on) until
/// destruction: the kernel gives it to nobody else, and rank 0 can listen on it.
class PortReservation {
 public:
  /// Throws Error(kIo).
  PortReservation();
  ~PortReservation();
  PortReservation(const PortReservation&) = delete;
  PortReservation& operator=(const PortReservation&) = delete;
  int port() const { return port_; }

 private:
  int socket_ = -1;
  int port_ = 0;
};

/// One job on this machine.
struct LaunchSpec {
  std::filesystem::path worker;  ///< tersor-worker
  std::filesystem::path folder;  ///< of cell.json; spools and logs (rank<r>.out, .err) go there
  protocol::Hardware hardware;
  std::vector<int> cores;  ///< to pin ranks to, in order; reused where there are too few
};

/// The worker program: TERSOR_WORKER, or tersor-worker beside this program. Throws Error(kMissing)
/// with what to do.
std::filesystem::path find_worker();

/// The ranks of one job: one process each, all in one process group, torchrun's environment, each
/// pinned to its cores.
class RankGroup {
 public:
  /// Starts all ranks; where one cannot be started, none is left.
  explicit RankGroup(const LaunchSpec& spec);
  /// Kills and reaps whatever is left.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int ranks() const { return static_cast<int>(pids_.size()); }
  /// Notes who has ended since; true where somebody newly has.
  bool poll();
  bool is_running() const;
  /// How a rank ended, or nothing while it runs.
  const std::optional<ProcessEnd>& end(int rank) const { return ends_.at(rank); }
  /// The first rank seen to end otherwise than with exit status 0, or -1.
  int first_failure() const { return first_failure_; }
  /// To every process of the group, children of the ranks included.
  void signal(int number);

 private:
  void close();

  PortReservation port_;
  std::vector<pid_t> pids_;
  std::vector<std::optional<ProcessEnd>> ends_;
  int first_failure_ = -1;
};

}  // namespace tersor::harness
