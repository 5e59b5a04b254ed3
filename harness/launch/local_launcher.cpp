// SPDX-License-Identifier: Apache-2.0
#include "harness/launch/local_launcher.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "common/error.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

/// Cores of one rank: `threads` of them from rank * threads on, round and round.
std::vector<int> cores_of(const LaunchSpec& spec, int rank) {
  std::vector<int> cores;
  if (spec.cores.empty()) return cores;
  for (int thread = 0; thread < spec.hardware.threads; ++thread)
    cores.push_back(spec.cores[static_cast<std::size_t>(rank * spec.hardware.threads + thread) %
                               spec.cores.size()]);
  return cores;
}

ProcessSpec process_spec(const LaunchSpec& spec, int rank, int port, pid_t group) {
  const std::string name = "rank" + std::to_string(rank);
  const std::string threads = std::to_string(spec.hardware.threads);
  ProcessSpec process;
  process.arguments = {spec.worker.string(), "--cell", (spec.folder / "cell.json").string(),
                       "--spool", spec.folder.string()};
  process.variables = {{"RANK", std::to_string(rank)},
                       {"LOCAL_RANK", std::to_string(rank)},
                       {"WORLD_SIZE", std::to_string(spec.hardware.processes())},
                       {"LOCAL_WORLD_SIZE", std::to_string(spec.hardware.processes())},
                       {"MASTER_ADDR", "127.0.0.1"},
                       {"MASTER_PORT", std::to_string(port)},
                       {"OMP_NUM_THREADS", threads},
                       {"MKL_NUM_THREADS", threads},
                       {"OPENBLAS_NUM_THREADS", threads},
                       {"TERSOR_PIN", "off"}};  // done here
  process.cores = cores_of(spec, rank);
  process.output = spec.folder / (name + ".out");
  process.errors = spec.folder / (name + ".err");
  process.group = group;
  return process;
}

}  // namespace

PortReservation::PortReservation() {
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 || setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const std::string why = std::strerror(errno);
    if (socket_ >= 0) ::close(socket_);
    throw Error(ErrorKind::kIo, "no TCP port on 127.0.0.1 for the ranks to meet at: " + why);
  }
  port_ = ntohs(address.sin_port);
}

PortReservation::~PortReservation() { ::close(socket_); }

fs::path find_worker() {
  std::error_code error;
  if (const char* given = std::getenv("TERSOR_WORKER"); given && *given) {
    if (access(given, X_OK) != 0)
      throw Error(ErrorKind::kMissing, std::string("TERSOR_WORKER=") + given + ": " +
                                           std::strerror(errno) + "; give an executable file");
    return fs::absolute(given);
  }
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "tersor-worker";
  if (access(beside.c_str(), X_OK) != 0)
    throw Error(ErrorKind::kMissing,
                beside.string() + ": " + std::strerror(errno) +
                    "; build it with scripts/demo or scripts/test, or set TERSOR_WORKER");
  return beside;
}

RankGroup::RankGroup(const LaunchSpec& spec) {
  try {
    for (int rank = 0; rank < spec.hardware.processes(); ++rank)
      pids_.push_back(
          start_process(process_spec(spec, rank, port_.port(), pids_.empty() ? 0 : pids_.front())));
  } catch (const Error&) {
    ends_.resize(pids_.size());
    close();
    throw;
  }
  ends_.resize(pids_.size());
}

RankGroup::~RankGroup() { close(); }

bool RankGroup::poll() {
  bool has_news = false;
  for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
    if (ends_[rank]) continue;
    // Not reaped yet: as long as its leader is a zombie, the group's number stays ours.
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pids_[rank]), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
      continue;
    const bool has_exited = info.si_code == CLD_EXITED;
    ends_[rank] = {has_exited ? info.si_status : 0, has_exited ? 0 : info.si_status};
    has_news = true;
    if (first_failure_ < 0 && ends_[rank]->status() != 0) first_failure_ = static_cast<int>(rank);
  }
  return has_news;
}

bool RankGroup::is_running() const {
  return std::any_of(ends_.begin(), ends_.end(), [](const auto& end) { return !end; });
}

void RankGroup::signal(int number) {
  if (!pids_.empty()) kill(-pids_.front(), number);
}

void RankGroup::close() {
  signal(SIGKILL);
  for (const pid_t pid : pids_) {
    int ignored = 0;
    while (waitpid(pid, &ignored, 0) < 0 && errno == EINTR) {
    }
  }
  pids_.clear();
}

}  // namespace tersor::harness
