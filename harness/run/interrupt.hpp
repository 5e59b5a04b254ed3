// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <signal.h>

#include <array>

namespace tersor::harness {

/// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending the program, and a child
/// that ends wakes `sleep`. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The first such signal, or 0.
  static int signal();
  /// How many came: a second one means "at once".
  static int count();
  /// At most this long; shorter where a signal or the end of a child comes.
  static void sleep(int milliseconds);

 private:
  static constexpr std::array<int, 4> kSignals{SIGINT, SIGTERM, SIGHUP, SIGCHLD};
  std::array<struct sigaction, 4> before_{};
  sigset_t mask_before_{};
};

}  // namespace tersor::harness
