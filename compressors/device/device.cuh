// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

/// What every kernel file includes first: one spelling for nvcc and for the emulator of
/// tests/cuda_emulator, which runs the same file on the CPU. All of CUDA keeps its name, but for
///   TERSOR_SHARED(T, name), TERSOR_SHARED_ARRAY(T, name, count), TERSOR_DYNAMIC_SHARED(T, name)
///   TERSOR_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...)   checked; templates
///     with a comma in parentheses
///   load_vector(pointer), store_vector(pointer, value)   one aligned access of 8 or 16 bytes
#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include "compressors/device/cuda_check.hpp"

#define TERSOR_SHARED(T, name) __shared__ T name
#define TERSOR_SHARED_ARRAY(T, name, count) __shared__ T name[count]
#define TERSOR_DYNAMIC_SHARED(T, name)                             \
  extern __shared__ __align__(16) unsigned char name##_dynamic_[]; \
  T* name = reinterpret_cast<T*>(name##_dynamic_)
#define TERSOR_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                      \
  ::tersor::compressors::launch_kernel(#kernel, kernel, grid, block, shared_bytes, stream, \
                                       __VA_ARGS__)

namespace tersor::compressors {

template <class... P, class... A>
void launch_kernel(const char* name, void (*kernel)(P...), dim3 grid, dim3 block,
                   std::size_t shared_bytes, void* stream, A... arguments) {
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(arguments...);
  check_cuda(cudaGetLastError(), name);
}

template <class T>
__device__ __forceinline__ T load_vector(const T* from) {
  static_assert(sizeof(T) == alignof(T));
  return *from;
}
template <class T>
__device__ __forceinline__ void store_vector(T* to, T value) {
  static_assert(sizeof(T) == alignof(T));
  *to = value;
}

}  // namespace tersor::compressors
#else
#include "cuda_view.hpp"  // tests/cuda_emulator, on the include path of emulated kernels only

namespace tersor::compressors {
using emulator::load_vector;
using emulator::store_vector;
}  // namespace tersor::compressors
#endif
