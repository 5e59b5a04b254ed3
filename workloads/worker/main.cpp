// SPDX-License-Identifier: Apache-2.0
// One rank of one cell (docs/spool.md).
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "common/build_info.hpp"
#include "common/error.hpp"
#include "common/host.hpp"
#include "common/log.hpp"
#include "common/utc_time.hpp"
#include "protocol/exit_code.hpp"
#include "protocol/job_file.hpp"
#include "workloads/comm/runtime.hpp"
#include "workloads/worker/environment.hpp"
#include "workloads/worker/failure.hpp"
#include "workloads/worker/job.hpp"
#include "workloads/worker/job_file.hpp"
#include "workloads/worker/spool.hpp"

namespace tersor::workloads {
namespace {

using protocol::Cause;
using protocol::Status;
using protocol::WorkerExit;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

/// Writes the end and returns what to exit with. Where the spool cannot be written, and perhaps the
/// log neither, since both are on one disk, the exit status is all that can tell.
int close(Spool& spool, const protocol::End& end) {
  try {
    spool.end(end);
    return protocol::worker_exit(end.verdict());
  } catch (const std::exception& error) {
    log_line(LogLevel::kError, error.what());
    return WorkerExit::kCannotWrite;
  }
}

/// A rank that waits in a collective cannot look at a flag, so a thread of its own takes SIGTERM
/// and SIGINT, closes the spool and ends the process.
void end_on_signals(Spool& spool) {
  std::thread([&spool] {
    const sigset_t set = stop_signals();
    int signal = 0;
    sigwait(&set, &signal);
    close(spool, {.status = Status::kFailed,
                  .cause = Cause::kInterrupted,
                  .reason = std::string(to_string(Cause::kInterrupted))});
    _exit(WorkerExit::kInterrupted);
  }).detach();
}

protocol::Start start_record(const protocol::JobFile& job, const Launch& launch) {
  return {.cell_key = job.cell_key,
          .seed = job.seed,
          .attempt = job.attempt,
          .rank = launch.rank,
          .world = launch.world,
          .pid = getpid(),
          .host = host_name(),
          .time = utc_now(false),
          .environment = environment_facts(),
          .hardware = hardware_facts()};
}

std::unique_ptr<Collective> make_collective(const protocol::JobFile& job, const Launch& launch) {
  const SumOrder order =
      job.config.parallelism.sum_order == "ranks" ? SumOrder::kRanks : SumOrder::kLibrary;
  if (launch.world == 1)
    return make_emulated_collective(
        job.config.hardware.emulated() ? job.config.hardware.tp * job.config.hardware.pp : 1,
        order);
  return make_gloo_collective({.address = launch.address,
                               .port = launch.port,
                               .rank = launch.rank,
                               .ranks = launch.world,
                               .timeout = std::chrono::seconds(launch.timeout_seconds)},
                              order);
}

/// Runs the job and closes the spool. Ends the process itself on failure: a process group whose
/// peer is gone may wait in its destructor.
int run(const std::string& cell, const std::string& folder) {
  const Launch launch = read_launch();
  Spool spool(folder, launch.rank);
  end_on_signals(spool);
  try {
    const protocol::JobFile job = protocol::read_job_file(cell);
    if (launch.is_pinned) pin_to_cores(launch.local_rank, job.config.hardware.threads);
    start_runtime(job.config.hardware.threads);
    const protocol::Start start = start_record(job, launch);
    spool.set_bare_start(start);
    check_job(job, launch.world);
    const StageOutcome outcome = run_job(job, folder, make_collective(job, launch), spool, start);
    protocol::End end{.reason = outcome.reason,
                      .checksum = launch.rank == 0 ? outcome.checksum : ""};
    if (outcome.is_diverged) {
      end.status = Status::kDiverged;
      end.cause = Cause::kNonFinite;
    }
    return close(spool, end);
  } catch (const std::exception& error) {
    const protocol::Verdict verdict = verdict_of(error);
    const std::string reason = reason_of(error);
    log_line(LogLevel::kError, "rank " + std::to_string(launch.rank) + ": " + reason);
    std::_Exit(close(spool, {.status = verdict.status, .cause = verdict.cause, .reason = reason}));
  }
}

/// A worker never outlives the process that started it.
void end_with_parent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(WorkerExit::kInterrupted);
}

int main_of_worker(int argc, char** argv) {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  end_with_parent();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write() that names it
  set_log_name("tersor-worker");
  CLI::App app{
      "tersor-worker: one rank of one cell. Rank and rendezvous come from RANK, WORLD_SIZE, "
      "LOCAL_RANK, MASTER_ADDR and MASTER_PORT (torchrun's variables); TERSOR_TIMEOUT is the "
      "longest wait for a peer in seconds (300), TERSOR_PIN=off leaves the cores to the system."};
  app.footer(
      "Exit status: 0 ok, 1 error, 2 wrong usage, 3 diverged, 4 out of memory, 130 interrupted.\n"
      "Where the spool cannot be written it is 5.\n"
      "Example, two ranks of a cell whose hardware has tp 2 and no emulation:\n"
      "  export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500\n"
      "  RANK=1 LOCAL_RANK=1 tersor-worker --cell cell.json --spool out &\n"
      "  RANK=0 LOCAL_RANK=0 tersor-worker --cell cell.json --spool out\n"
      "`tersor run` writes job files and starts workers itself.");
  std::string cell, folder;
  app.add_option("--cell", cell, "job file (docs/spool.md)")->required();
  app.add_option("--spool", folder, "folder that gets rank<r>.jsonl")->required();
  app.set_version_flag("--version", build_version());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? WorkerExit::kOk : WorkerExit::kUsage;
  }
  try {
    return run(cell, folder);
  } catch (const std::exception& error) {  // before there is a spool
    log_line(LogLevel::kError, error.what());
    const auto* own = dynamic_cast<const Error*>(&error);
    if (own && own->kind() == ErrorKind::kUsage) return WorkerExit::kUsage;
    if (own && own->kind() == ErrorKind::kIo) return WorkerExit::kCannotWrite;
    return WorkerExit::kFailed;
  }
}

}  // namespace
}  // namespace tersor::workloads

int main(int argc, char** argv) { return tersor::workloads::main_of_worker(argc, argv); }
