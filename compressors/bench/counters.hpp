// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <benchmark/benchmark.h>

#include <cstddef>

#include "compressors/bench/interleaved.hpp"

namespace tersor::compressors::bench {

/// The bytes of a row, and those that any implementation of it must move: the input read once and
/// the output written once.
struct RowBytes {
  std::size_t raw = 0;
  std::size_t payload = 0;
  std::size_t moved = 0;
};

/// What the JSON of a row says, all times in nanoseconds.
void set_counters(benchmark::State& state, const Timing& timing, const RowBytes& bytes);

}  // namespace tersor::compressors::bench
