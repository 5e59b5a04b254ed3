// SPDX-License-Identifier: Apache-2.0
#include "compressors/bench/interleaved.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/statistics.hpp"

namespace tersor::compressors::bench {
namespace {

constexpr double kNoisy = 1.06;
constexpr int kTries = 10;
constexpr double kBatchNs = 100e3;  // a reading of the clock costs a fraction of a microsecond

double now_ns(bool is_wall) {
  timespec t{};
  clock_gettime(is_wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

class Timer {
 public:
  Timer(const std::function<void()>& call, bool is_wall) : call_(call), is_wall_(is_wall) {
    call_();  // pages, caches, lazily made tables
    const double once = time();
    repeats_ = std::max(1, static_cast<int>(std::ceil(kBatchNs / std::max(once, 100.0))));
  }
  /// Nanoseconds a call.
  double time() {
    const double begin = now_ns(is_wall_);
    for (int i = 0; i < repeats_; ++i) call_();
    const double ns = now_ns(is_wall_) - begin;
    spent_ns_ += ns;
    return ns / repeats_;
  }
  double spent_ns() const { return spent_ns_; }

 private:
  const std::function<void()>& call_;
  bool is_wall_;
  int repeats_ = 1;
  double spent_ns_ = 0;
};

struct Median {
  double value;
  Interval interval;
};

Median median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), median_interval(values, static_cast<double>(values.size()))};
}

}  // namespace

Timing measure(const std::function<void()>& work, const std::function<void()>& copy,
               const Effort& effort) {
  Timer works(work, effort.is_wall);
  Timer copies(copy, effort.is_wall);
  std::vector<double> work_ns;
  std::vector<double> copy_ns;
  std::vector<double> ratios;
  Timing t;
  double best_copy = copies.time();
  const auto is_time_up = [&] {
    return works.spent_ns() + copies.spent_ns() > effort.seconds * 1e9 &&
           static_cast<int>(ratios.size()) >= effort.least_samples;
  };
  while (static_cast<int>(ratios.size()) < effort.samples && !is_time_up()) {
    for (int attempt = 1;; ++attempt) {
      const double before = copies.time();
      const double between = works.time();
      const double after = copies.time();
      best_copy = std::min({best_copy, before, after});
      const bool is_quiet = std::max(before, after) <= kNoisy * best_copy;
      if (!is_quiet && attempt < kTries && !is_time_up()) continue;
      work_ns.push_back(between);
      copy_ns.push_back((before + after) / 2);
      ratios.push_back(copy_ns.back() / between);
      t.noisy += is_quiet ? 0 : 1;
      break;
    }
  }
  const Median ns = median_of(work_ns);
  const Median ratio = median_of(ratios);
  t.median_ns = ns.value;
  t.low_ns = ns.interval.low;
  t.high_ns = ns.interval.high;
  t.least_ns = *std::min_element(work_ns.begin(), work_ns.end());
  t.copy_median_ns = median_of(copy_ns).value;
  t.copy_least_ns = best_copy;
  t.ratio = ratio.value;
  t.ratio_low = ratio.interval.low;
  t.ratio_high = ratio.interval.high;
  t.samples = static_cast<int>(ratios.size());
  return t;
}

}  // namespace tersor::compressors::bench
