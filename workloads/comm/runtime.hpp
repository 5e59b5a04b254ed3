// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace tersor::workloads {

/// What computes here, for the records.
struct RuntimeInfo {
  std::string torch;  ///< version
  std::string isa;    ///< that ATen's kernels use, e.g. "AVX512"
  /// The widest of the CPU that the libraries of the matrix products choose theirs from, and what
  /// the user capped it by: "AVX512; MKL_CBWR=AVX2".
  std::string math_isa;
  std::string math_library;  ///< of the matrix products, with versions
  int threads = 1;
};

/// `threads` of computation, deterministic algorithms only, no flush to zero. Call once, first.
void start_runtime(int threads);
RuntimeInfo runtime_info();

/// Throws Error(kInternal) where the control register of the calling thread flushes or rounds
/// otherwise than IEEE 754's default: payload bytes would differ.
void check_floating_point();

}  // namespace tersor::workloads
