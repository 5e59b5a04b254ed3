// SPDX-License-Identifier: Apache-2.0
#include "harness/run/supervisor.hpp"

#include <signal.h>

#include <chrono>
#include <cstring>
#include <utility>

#include "common/disk_room.hpp"
#include "common/error.hpp"
#include "harness/hardware/machine.hpp"
#include "harness/run/duration_text.hpp"
#include "harness/run/interrupt.hpp"
#include "protocol/exit_code.hpp"

namespace tersor::harness {
namespace {

using protocol::Cause;
using protocol::End;
using protocol::Status;
using protocol::Verdict;
using protocol::WorkerExit;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Of a rank that a signal killed. Signals that a process sends itself by a mistake are a defect.
Verdict verdict_of_signal(int signal, bool is_out_of_memory) {
  if (is_out_of_memory) return {Status::kOom, Cause::kOutOfMemoryHost};
  switch (signal) {
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGSYS: return {Status::kFailed, Cause::kDefect};
    default: return {Status::kFailed, Cause::kKilled};
  }
}

/// How much of a failed run the end of one rank explains.
int weight_of(const ProcessEnd& end, const Verdict& verdict) {
  if (end.signal != 0) return 4;
  if (verdict.status == Status::kOom) return 3;
  if (verdict.status == Status::kDiverged) return 2;
  return verdict.cause == Cause::kLostPeer ? 0 : 1;
}

RunOutcome ended(const Verdict& verdict, std::string reason, int exit_code) {
  RunOutcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  outcome.exit_code = exit_code;
  return outcome;
}

/// Ranks that cannot write have no word of their own: their logs are on the same disk.
void blame_disk(const std::filesystem::path& folder, RunOutcome& outcome) {
  const Cause cause = outcome.verdict.cause;
  if (cause != Cause::kSystem && cause != Cause::kDefect && cause != Cause::kLostPeer) return;
  outcome.why_stop = why_no_room(folder);
  if (outcome.why_stop.empty()) return;
  outcome.verdict = {Status::kFailed, Cause::kInterrupted};
  outcome.reason = "interrupted: " + outcome.why_stop + " (" + outcome.reason + ")";
}

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
    blame_disk(spec_.folder, outcome);
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
      cause_ = Cause::kInterrupted;
    } else if (limits_.timeout_seconds > 0 && seconds_since(begin_) > limits_.timeout_seconds) {
      cause_ = Cause::kTimeLimit;
    } else if (limits_.stall_seconds > 0 && seconds_since(looked_) > 1) {
      looked_ = Clock::now();
      const auto bytes = folder_bytes(spec_.folder);
      if (bytes != bytes_) grew_ = looked_;
      bytes_ = bytes;
      if (seconds_since(grew_) > limits_.stall_seconds) cause_ = Cause::kStalled;
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
      case Cause::kInterrupted: {
        const int number = InterruptGuard::signal();
        return ended({Status::kFailed, cause_},
                     std::string("interrupted by SIG") + sigabbrev_np(number) + at_step,
                     protocol::exit_of_signal(number));
      }
      case Cause::kTimeLimit:
        return ended({Status::kTimeout, cause_},
                     "--timeout: stopped after " + duration_text(limits_.timeout_seconds) + at_step,
                     decisive_status());
      case Cause::kStalled:
        return ended(
            {Status::kTimeout, cause_},
            "--stall: no rank wrote anything for " + duration_text(limits_.stall_seconds) + at_step,
            decisive_status());
      default: break;
    }
    const int rank = decisive_rank();
    return judge_failure(rank, *job_->end(rank));
  }

  /// All ranks exited with 0: every spool must say so too.
  RunOutcome judge_finished() const {
    for (int rank = 0; rank < job_->ranks(); ++rank) {
      const SpoolEnd end = read_spool_end(spec_.folder, rank);
      if (end.record) continue;
      RunOutcome outcome;
      outcome.reason = "rank " + std::to_string(rank) + " exited with 0, but its spool ";
      if (end.trouble.empty()) {
        outcome.reason += "has no end record";
      } else {
        outcome.verdict.cause = Cause::kSystem;
        outcome.reason += "cannot be read: " + end.trouble;
      }
      return outcome;
    }
    return ended({}, "", WorkerExit::kOk);
  }

  RunOutcome judge_failure(int rank, const ProcessEnd& end) const {
    const auto record = read_spool_end(spec_.folder, rank).record;
    const Verdict verdict = verdict_of(end, record);
    std::string reason = "rank " + std::to_string(rank) + ": ";
    if (verdict.cause == Cause::kInterrupted) {
      reason = "interrupted: rank " + std::to_string(rank) + " was told to stop";
    } else if (end.signal != 0) {
      reason += "killed by " + to_string(end);
      if (verdict.status == Status::kOom) reason += " by the kernel, out of memory";
    } else {
      const std::string_view words = protocol::words_of_exit(end.exit_code);
      reason += record && !record->reason.empty() ? record->reason
                : !words.empty() ? std::string(words) + " (" + spec_.folder.string() + ")"
                                 : to_string(end);
    }
    return ended(verdict, reason, end.status());
  }

  /// Its own word, else what its exit status tells.
  Verdict verdict_of(const ProcessEnd& end, const std::optional<End>& record) const {
    if (end.signal != 0) {
      const std::int64_t kills = oom_kill_count();
      return verdict_of_signal(end.signal,
                               end.signal == SIGKILL && kills > oom_kills_ && oom_kills_ >= 0);
    }
    if (record && record->status != Status::kOk) return record->verdict();
    return protocol::verdict_of_exit(end.exit_code);
  }

  /// Where not all exited with 0: the rank whose end explains it. One that was killed from outside,
  /// then one out of memory, then one that diverged, then the first seen to fail by itself, then
  /// one that lost a peer; ranks that the supervisor stopped explain nothing.
  int decisive_rank() const {
    const int first = is_stopping_ ? failure_before_stop_ : job_->first_failure();
    const auto weight = [&](int rank) {
      const ProcessEnd& end = *job_->end(rank);
      return weight_of(end, verdict_of(end, read_spool_end(spec_.folder, rank).record));
    };
    int best = first;
    int best_weight = best < 0 ? -1 : weight(best);
    for (int rank = 0; rank < job_->ranks(); ++rank) {
      const auto& end = job_->end(rank);
      if (!end || end->status() == 0) continue;
      const bool was_stopped = end->signal != 0 || end->exit_code == WorkerExit::kInterrupted;
      if (is_stopping_ && rank != first && was_stopped) continue;
      if (weight(rank) <= best_weight) continue;
      best = rank;
      best_weight = weight(rank);
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
    RunOutcome outcome =
        ended({Status::kFailed, Cause::kSystem}, error.what(), protocol::kCannotStart);
    blame_disk(spec.folder, outcome);
    return outcome;
  }
}

}  // namespace tersor::harness
