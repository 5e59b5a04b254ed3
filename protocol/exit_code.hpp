// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "protocol/status.hpp"

namespace tersor::protocol {

/// Exit status of `tersor-worker` (docs/spool.md).
struct WorkerExit {
  static constexpr int kOk = 0;
  static constexpr int kFailed = 1;  ///< the cause is in the spool's `end` record
  static constexpr int kUsage = 2;   ///< of its command line, or of the variables
  static constexpr int kDiverged = 3;
  static constexpr int kOutOfMemory = 4;
  static constexpr int kCannotWrite = 5;  ///< its spool, so that no record says anything
  static constexpr int kInterrupted = 130;
};

/// Exit status of `tersor`.
struct ProgramExit {
  static constexpr int kOk = 0;
  static constexpr int kBadNews = 1;     ///< the command's own: a run failed, a file differs
  static constexpr int kBadInput = 2;    ///< nothing was started
  static constexpr int kInfeasible = 3;  ///< none failed, but not everything can run here
  static constexpr int kDefect = 5;
  static constexpr int kInterrupted = 130;
};

/// Stands where a process could not be started (as in a shell), or where nobody saw it end.
inline constexpr int kCannotStart = 127;
inline constexpr int kUnknownExit = -1;

/// Of a process that a signal killed, as a shell gives it.
constexpr int exit_of_signal(int signal) { return 128 + signal; }

/// What a worker exits with.
constexpr int worker_exit(const Verdict& verdict) {
  if (verdict.cause == Cause::kInterrupted) return WorkerExit::kInterrupted;
  switch (verdict.status) {
    case Status::kOk: return WorkerExit::kOk;
    case Status::kDiverged: return WorkerExit::kDiverged;
    case Status::kOom: return WorkerExit::kOutOfMemory;
    default: return WorkerExit::kFailed;
  }
}

/// What the exit status of a worker tells, where its spool has no `end` record.
constexpr Verdict verdict_of_exit(int code) {
  switch (code) {
    case WorkerExit::kOk: return {Status::kOk, Cause::kNone};
    case WorkerExit::kUsage: return {Status::kFailed, Cause::kRefused};
    case WorkerExit::kDiverged: return {Status::kDiverged, Cause::kNonFinite};
    case WorkerExit::kOutOfMemory: return {Status::kOom, Cause::kOutOfMemoryHost};
    case WorkerExit::kCannotWrite: return {Status::kFailed, Cause::kSystem};
    case WorkerExit::kInterrupted: return {Status::kFailed, Cause::kInterrupted};
    case kCannotStart: return {Status::kFailed, Cause::kSystem};
    default: return {Status::kFailed, Cause::kDefect};
  }
}

/// The same for people, of those that the number does not explain; else empty.
constexpr std::string_view words_of_exit(int code) {
  switch (code) {
    case WorkerExit::kUsage:
      return "its command line, or a variable of its environment, is wrong (the log says which)";
    case WorkerExit::kCannotWrite:
      return "it could not write its spool: the disk is full or failing, or a limit of file sizes "
             "is reached";
    default: return {};
  }
}

}  // namespace tersor::protocol
