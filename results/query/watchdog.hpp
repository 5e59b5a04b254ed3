// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace tersor::results {

/// The deadline of one query. SQLite looks at it between instructions (is_over); a single
/// instruction, such as trim() or LIKE on megabytes, may take hours and cannot be interrupted, so a
/// thread calls `on_overrun` where the deadline has passed by half a second and nobody has looked.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  /// `seconds` 0: no deadline. `on_overrun` runs on another thread and should end the process; an
  /// empty one is not called.
  Watchdog(double seconds, std::function<void()> on_overrun);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  bool is_over() const;
  /// Between pause and resume the time stands still: a reader of the output may be slow.
  void pause();
  void resume();

 private:
  void watch();

  std::function<void()> on_overrun_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> paused_at_;
  bool is_done_ = false;
  std::thread thread_;
};

}  // namespace tersor::results
