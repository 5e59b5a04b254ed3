// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tersor::workloads {

/// While an exception of Gloo or c10d is handled: throws what it means. A peer that is gone or does
/// not answer is Error(kPeer), a failing system call Error(kIo), a broken rule of Gloo
/// Error(kInternal); Error, memory that is out and what nobody knows stay what they are. `what` is
/// what was being done, e.g. "all-reduce".
[[noreturn]] void rethrow_from_gloo(const std::string& what);

/// The same while ranks meet, where c10d hides a cause behind its own exception: first looks
/// whether this machine still gives a socket at `address` (numeric), and reports that if not.
[[noreturn]] void rethrow_from_meeting(const std::string& what, const std::string& address);

}  // namespace tersor::workloads
