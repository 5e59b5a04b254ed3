// SPDX-License-Identifier: Apache-2.0
#include "results/query/watchdog.hpp"

#include <algorithm>
#include <utility>

namespace tersor::results {

Watchdog::Watchdog(double seconds, std::function<void()> on_overrun)
    : on_overrun_(std::move(on_overrun)) {
  if (seconds <= 0) return;
  constexpr double kLongest = 1e9;  // years, and still a time that the clock can hold
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(std::min(seconds, kLongest)));
  if (on_overrun_) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Watchdog::is_over() const {
  const std::lock_guard lock(mutex_);
  return deadline_ && !paused_at_ && Clock::now() >= *deadline_;
}

void Watchdog::pause() {
  const std::lock_guard lock(mutex_);
  paused_at_ = Clock::now();
}

void Watchdog::resume() {
  const std::lock_guard lock(mutex_);
  if (paused_at_ && deadline_) *deadline_ += Clock::now() - *paused_at_;
  paused_at_.reset();
}

void Watchdog::watch() {
  constexpr auto kGrace = std::chrono::milliseconds(500);
  std::unique_lock lock(mutex_);
  while (!is_done_) {
    const auto now = Clock::now();
    if (!paused_at_ && now >= *deadline_ + kGrace) {
      lock.unlock();
      on_overrun_();
      return;
    }
    changed_.wait_until(lock, paused_at_ ? now + kGrace : *deadline_ + kGrace);
  }
}

}  // namespace tersor::results
