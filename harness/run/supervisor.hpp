// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "harness/launch/launcher.hpp"
#include "harness/run/spool_tail.hpp"
#include "protocol/status.hpp"

namespace tersor::harness {

struct RunLimits {
  double timeout_seconds = 0;  ///< wall time of a run; 0: none
  double stall_seconds = 0;    ///< longest time without a byte from any rank; 0: none
  double grace_seconds = 5;    ///< from SIGTERM to SIGKILL
  /// How long the other ranks may go on once one has failed: they find out by themselves where the
  /// connection breaks.
  double straggler_seconds = 3;
};

/// How a run ended, before its spool is ingested.
struct RunOutcome {
  protocol::Verdict verdict{protocol::Status::kFailed, protocol::Cause::kDefect};
  std::string reason;
  int exit_code = 0;  ///< of the rank that decided; 128 + signal where it was killed
  std::string log_tail;
  double seconds = 0;
  std::string why_stop;  ///< why no other run could do better: a full disk; empty: go on
};

/// Starts the ranks, watches them to the end, and says how it was. An interrupt (interrupt.hpp),
/// a limit or the failure of one rank ends the others: SIGTERM, then SIGKILL. When it returns, no
/// process of the job is left. `on_progress` is called about ten times a second with the seconds so
/// far.
RunOutcome run_job(const Launcher& launcher, const LaunchSpec& spec, const RunLimits& limits,
                   const std::function<void(const Progress&, double)>& on_progress);

}  // namespace tersor::harness
