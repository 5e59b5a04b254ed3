// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "common/clock.hpp"

namespace tersor::workloads {

/// Nanoseconds on the steady clock.
struct Durations {
  std::int64_t encode = 0;
  std::int64_t transfer = 0;
  std::int64_t decode = 0;

  Durations& operator+=(const Durations& other) {
    encode += other.encode;
    transfer += other.transfer;
    decode += other.decode;
    return *this;
  }
};

/// Adds the time of its scope.
class Timer {
 public:
  explicit Timer(std::int64_t& total) : total_(total), start_(steady_ns()) {}
  ~Timer() { total_ += steady_ns() - start_; }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  std::int64_t& total_;
  std::int64_t start_;
};

}  // namespace tersor::workloads
