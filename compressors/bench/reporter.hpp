// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <benchmark/benchmark.h>

#include <cstddef>

namespace tersor::compressors::bench {

/// Runs the registered rows with the reporter that the command line names; returns how many ran.
///
/// Drops Google Benchmark's remark on how it was built itself (distributions build it without
/// NDEBUG): rows are timed by measure(), and the programs refuse to run where they are no release
/// build.
std::size_t run_rows();

}  // namespace tersor::compressors::bench
