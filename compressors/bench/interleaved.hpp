// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

namespace tersor::compressors::bench {

/// How long to measure one row.
struct Effort {
  int samples = 25;       ///< at most
  int least_samples = 3;  ///< also where the time is up
  double seconds = 0.4;   ///< of all timed calls
  bool is_wall = false;   ///< wall time (work of several threads), not this thread's CPU time
};

/// Times of one row, in nanoseconds a call. `low` and `high` are median_interval
/// (common/statistics.hpp).
struct Timing {
  double median_ns = 0;
  double low_ns = 0;
  double high_ns = 0;
  double least_ns = 0;
  double copy_median_ns = 0;
  double copy_least_ns = 0;
  /// Copy time / work time of the same sample: > 1 is faster than the copy.
  double ratio = 0;
  double ratio_low = 0;
  double ratio_high = 0;
  int samples = 0;
  int noisy = 0;  ///< samples that never met two copies at the speed of the best one
};

/// Times `work` between two calls of `copy`, again and again (a sample). On a shared machine a
/// plain time may be wrong by several times; so a sample counts this thread's CPU time, is compared
/// with its own two copies, and is repeated (at most ten times) while they are more than 6 % slower
/// than the best copy seen. Short calls are timed in batches.
Timing measure(const std::function<void()>& work, const std::function<void()>& copy,
               const Effort& effort);

}  // namespace tersor::compressors::bench
