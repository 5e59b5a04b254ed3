// SPDX-License-Identifier: Apache-2.0
#include "harness/run/interrupt.hpp"

#include <poll.h>

#include <csignal>
#include <ctime>

namespace tersor::harness {
namespace {

volatile std::sig_atomic_t first_signal = 0;
volatile std::sig_atomic_t signal_count = 0;

void note(int number) {
  if (number == SIGCHLD) return;
  if (first_signal == 0) first_signal = number;
  signal_count = signal_count + 1;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  first_signal = 0;
  signal_count = 0;
  struct sigaction action {};
  action.sa_handler = note;  // no SA_RESTART: sleep must wake
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  // SIGCHLD is taken in sleep only, so that the end of a child between two looks is not missed.
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &mask_before_);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

int InterruptGuard::signal() { return first_signal; }
int InterruptGuard::count() { return signal_count; }

void InterruptGuard::sleep(int milliseconds) {
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  sigdelset(&mask, SIGCHLD);
  const timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  ppoll(nullptr, 0, &limit, &mask);
}

}  // namespace tersor::harness
