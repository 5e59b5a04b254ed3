// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace tersor::protocol {

/// Where a run is, or how it ended. A rank's `end` record says ok, failed, diverged or oom.
enum class Status : std::uint8_t {
  kPlanned,
  kRunning,
  kOk,
  kFailed,
  kDiverged,
  kTimeout,
  kOom,
  kSkipped,
  kInfeasible
};

/// Why a run or a rank ended as it did. Programs decide by this; the reason beside it is for
/// people.
enum class Cause : std::uint8_t {
  kNone,               ///< ok, or not over yet
  kInterrupted,        ///< a rank or the harness was told to stop, or the harness died: runs again
  kLostPeer,           ///< another rank of the job went away or did not answer in time
  kStalled,            ///< no rank wrote anything for longer than allowed
  kTimeLimit,          ///< took longer than allowed
  kOutOfMemoryHost,    ///< an allocation failed, or the kernel killed a rank for its memory
  kOutOfMemoryDevice,  ///< an allocation on a GPU failed
  kRefused,            ///< bad input, or not possible in this build or on this machine
  kNonFinite,          ///< a loss or an output was not finite
  kFailFast,           ///< not started, since another run had failed
  kKilled,             ///< a rank was killed from outside
  kSystem,             ///< a file, socket, process or driver failed
  kDefect,             ///< an error of tersor: a crash, a broken invariant, a spool without end
  kUnknown             ///< stored or written by a tersor that knew no causes
};

/// How something ended, and why.
struct Verdict {
  Status status = Status::kOk;
  Cause cause = Cause::kNone;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// "planned", "running", "ok", "failed", "diverged", "timeout", "oom", "skipped", "infeasible".
std::string_view to_string(Status status);
/// As spool and database have it: "none", "interrupted", "lost_peer", ...
std::string_view to_string(Cause cause);

/// Throws Error(kData) with the names that there are.
Status parse_status(std::string_view text);
Cause parse_cause(std::string_view text);

/// All names, in the order of the values.
std::span<const std::string_view> status_names();
std::span<const std::string_view> cause_names();

/// The cause that goes with a status where nothing else is said.
Cause usual_cause(Status status);

}  // namespace tersor::protocol
