// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

#include "common/error.hpp"

namespace tersor::compressors {

/// Throws Error(kDevice), where memory ran out Error(kDeviceMemory), with CUDA's words; clears the
/// runtime's last error, so that the next call does not report this one again.
inline void check_cuda(cudaError_t status, const char* call,
                       std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  const bool has_no_memory = status == cudaErrorMemoryAllocation;
  throw Error(
      has_no_memory ? ErrorKind::kDeviceMemory : ErrorKind::kDevice,
      std::string(call) + ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status), 0,
      where);
}

}  // namespace tersor::compressors

/// Around every CUDA call.
#define TERSOR_CUDA_CHECK(call) ::tersor::compressors::check_cuda((call), #call)
/// After every launch, with the kernel's name.
#define TERSOR_LAUNCH_CHECK(kernel) ::tersor::compressors::check_cuda(cudaGetLastError(), kernel)
