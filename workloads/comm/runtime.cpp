// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/runtime.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <cstdio>
#include <cstdlib>

#include "common/error.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tersor::workloads {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string widest_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "AVX512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "AVX2";
  if (__builtin_cpu_supports("avx")) return "AVX";
  return "SSE2";
#else
  return "unknown";
#endif
}

/// MKL and oneDNN tell nobody which code they run; they choose by the CPU and these variables.
std::string math_isa() {
  std::string text = widest_isa();
  for (const char* name : {"MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE",
                           "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (const char* value = std::getenv(name); value && *value)
      text += std::string("; ") + name + "=" + value;
  return text;
}

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
  info.math_isa = math_isa();
  info.math_library =
      at::globalContext().hasMKL() ? first_line(at::get_mkl_version()) : std::string("ATen's own");
  if (at::globalContext().hasMKLDNN())
    info.math_library += "; " + first_line(at::get_mkldnn_version());
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
