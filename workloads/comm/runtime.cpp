// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/runtime.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <cstdio>

#include "common/error.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tersor::workloads {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void start_runtime(int threads) {
  at::set_num_threads(threads);
  at::set_num_interop_threads(1);
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  at::globalContext().setFlushDenormal(false);
  check_floating_point();
}

RuntimeInfo runtime_info() {
  RuntimeInfo info;
  info.torch = TORCH_VERSION;
  info.isa = at::get_cpu_capability();
  info.math_library =
      at::globalContext().hasMKL() ? first_line(at::get_mkl_version()) : std::string("ATen's own");
  info.threads = at::get_num_threads();
  return info;
}

void check_floating_point() {
#if defined(__x86_64__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040, kRounding = 0x6000;
  const unsigned state = _mm_getcsr();
  if (state & (kFlushToZero | kDenormalsAreZero | kRounding)) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%04x", state);
    throw Error(ErrorKind::kInternal,
                std::string("MXCSR is ") + text +
                    ": a library switched to flush-to-zero or another rounding; results would "
                    "differ from IEEE 754's default");
  }
#endif
}

}  // namespace tersor::workloads
