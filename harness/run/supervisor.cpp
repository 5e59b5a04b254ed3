// SPDX-License-Identifier: Apache-2.0
#include "harness/run/supervisor.hpp"

#include <signal.h>

#include <chrono>
#include <cstring>
#include <utility>

#include "common/error.hpp"
#include "harness/hardware/machine.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/plan.hpp"

namespace tersor::harness {
namespace {

using results::RunStatus;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Why the supervisor itself ended a run.
enum class Cause { kNone, kInterrupt, kTimeout, kStall };

class Supervisor {
 public:
  Supervisor(const Launcher& launcher, const LaunchSpec& spec, const RunLimits& limits)
      : launcher_(launcher),
        spec_(spec),
        limits_(limits),
        oom_kills_(oom_kill_count()),
        job_(launcher.start(spec)) {}

  void watch(const std::function<void(const Progress&, double)>& on_progress) {
    ProgressReader progress(launcher_.logs(spec_.folder, 0).output);
    while (job_->is_running()) {
      InterruptGuard::sleep(100);
      job_->poll();
      progress.update();
      last_step_ = progress.progress().step;
      on_progress(progress.progress(), seconds_since(begin_));
      if (!job_->is_running()) break;  // whatever came meanwhile, the run has its own end
      notice_stop();
      stop_ranks();
    }
  }

  RunOutcome outcome() const {
    RunOutcome outcome = judge();
    outcome.log_tail = log_tail(launcher_, spec_.folder, job_->ranks());
    outcome.seconds = seconds_since(begin_);
    return outcome;
  }

 private:
  void notice_stop() {
    if (job_->first_failure() >= 0 && !has_failed_) {
      has_failed_ = true;
      failed_ = Clock::now();
    }
    if (cause_ != Cause::kNone || has_failed_) return;
    if (InterruptGuard::signal() != 0) {
      cause_ = Cause::kInterrupt;
    } else if (limits_.timeout_seconds > 0 && seconds_since(begin_) > limits_.timeout_seconds) {
      cause_ = Cause::kTimeout;
    } else if (limits_.stall_seconds > 0 && seconds_since(looked_) > 1) {
      looked_ = Clock::now();
      const auto bytes = folder_bytes(spec_.folder);
      if (bytes != bytes_) grew_ = looked_;
      bytes_ = bytes;
      if (seconds_since(grew_) > limits_.stall_seconds) cause_ = Cause::kStall;
    }
  }

  /// Sends SIGTERM once there is a reason to, and SIGKILL where that did not help.
  void stop_ranks() {
    const bool has_waited = seconds_since(failed_) > limits_.straggler_seconds;
    const bool is_due =
        cause_ != Cause::kNone || (has_failed_ && (has_waited || InterruptGuard::signal() != 0));
    if (is_due && !is_stopping_) {
      is_stopping_ = true;
      stopped_ = Clock::now();
      failure_before_stop_ = job_->first_failure();
      job_->signal(SIGTERM);
    }
    if (is_stopping_ && !is_killed_ &&
        (seconds_since(stopped_) > limits_.grace_seconds || InterruptGuard::count() > 1)) {
      is_killed_ = true;
      job_->signal(SIGKILL);
    }
  }

  RunOutcome judge() const {
    if (job_->first_failure() < 0) return judge_finished();
    const std::string at_step = " at step " + std::to_string(last_step_);
    switch (cause_) {
      case Cause::kInterrupt: {
        const int number = InterruptGuard::signal();
        return {RunStatus::kFailed,
                std::string(kInterruptedReason) + " by SIG" + sigabbrev_np(number) + at_step,
                128 + number, "", 0};
      }
      case Cause::kTimeout:
        return {RunStatus::kTimeout,
                "--timeout: stopped after " + duration_text(limits_.timeout_seconds) + at_step,
                decisive_status(), "", 0};
      case Cause::kStall:
        return {
            RunStatus::kTimeout,
            "--stall: no rank wrote anything for " + duration_text(limits_.stall_seconds) + at_step,
            decisive_status(), "", 0};
      case Cause::kNone: break;
    }
    const int rank = decisive_rank();
    return judge_failure(rank, *job_->end(rank));
  }

  /// All ranks exited with 0: every spool must say so too.
  RunOutcome judge_finished() const {
    for (int rank = 0; rank < job_->ranks(); ++rank)
      if (!read_spool_end(spec_.folder, rank))
        return {RunStatus::kFailed,
                "rank " + std::to_string(rank) + " exited with 0, but its spool has no end record",
                0, "", 0};
    return {RunStatus::kOk, "", 0, "", 0};
  }

  RunOutcome judge_failure(int rank, const ProcessEnd& end) const {
    constexpr int kExitDiverged = 3;  // docs/spool.md
    constexpr int kExitOom = 4;
    const auto record = read_spool_end(spec_.folder, rank);
    std::string reason = "rank " + std::to_string(rank) + ": ";
    if (end.signal != 0) {
      const std::int64_t kills = oom_kill_count();
      const bool is_oom = end.signal == SIGKILL && kills > oom_kills_ && oom_kills_ >= 0;
      reason += "killed by " + to_string(end);
      if (is_oom) reason += " by the kernel, out of memory";
      return {is_oom ? RunStatus::kOom : RunStatus::kFailed, reason, end.status(), "", 0};
    }
    reason += record && !record->reason.empty() ? record->reason : to_string(end);
    if (end.exit_code == kExitDiverged) return {RunStatus::kDiverged, reason, kExitDiverged, "", 0};
    if (end.exit_code == kExitOom) return {RunStatus::kOom, reason, kExitOom, "", 0};
    return {RunStatus::kFailed, reason, end.exit_code, "", 0};
  }

  /// Where not all exited with 0: the rank whose end explains it. One that was killed from outside,
  /// then one out of memory, then one that diverged, then the first seen to fail; ranks that the
  /// supervisor stopped explain nothing.
  int decisive_rank() const {
    const int first = is_stopping_ ? failure_before_stop_ : job_->first_failure();
    int best = first;
    int best_weight = 0;
    for (int rank = 0; rank < job_->ranks(); ++rank) {
      const auto& end = job_->end(rank);
      if (!end || end->status() == 0) continue;
      if (is_stopping_ && rank != first && (end->signal != 0 || end->exit_code == 130)) continue;
      const int weight = end->signal ? 3 : end->exit_code == 4 ? 2 : end->exit_code == 3 ? 1 : 0;
      if (best < 0 || weight > best_weight) {
        best = rank;
        best_weight = weight;
      }
    }
    return best;
  }

  int decisive_status() const {
    const int rank = job_->first_failure();
    return rank < 0 ? 0 : job_->end(rank)->status();
  }

  const Launcher& launcher_;
  LaunchSpec spec_;
  RunLimits limits_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point looked_ = begin_, grew_ = begin_, failed_ = begin_, stopped_ = begin_;
  std::uintmax_t bytes_ = 0;
  std::int64_t oom_kills_;
  std::int64_t last_step_ = 0;
  Cause cause_ = Cause::kNone;
  bool has_failed_ = false, is_stopping_ = false, is_killed_ = false;
  int failure_before_stop_ = -1;
  std::unique_ptr<Job> job_;
};

}  // namespace

RunOutcome run_job(const Launcher& launcher, const LaunchSpec& spec, const RunLimits& limits,
                   const std::function<void(const Progress&, double)>& on_progress) {
  try {
    Supervisor supervisor(launcher, spec, limits);
    supervisor.watch(on_progress);
    return supervisor.outcome();
  } catch (const Error& error) {
    // A rank that cannot be started is this run's failure, not the sweep's.
    if (error.kind() != ErrorKind::kIo) throw;
    RunOutcome outcome;
    outcome.reason = error.what();
    outcome.exit_code = 127;
    return outcome;
  }
}

}  // namespace tersor::harness
