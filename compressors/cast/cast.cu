// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cstdint>

#include "compressors/api/cuda_check.hpp"
#include "compressors/api/device_table.hpp"
#include "compressors/api/floats.hpp"
#include "compressors/cast/cast.hpp"

// One pass over the data: a thread takes eight consecutive elements, in 16-byte loads and stores
// where the pointers allow it. The rounding is the host's (floats.hpp).

namespace tersor::compressors {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 8;

struct Float32 {
  using Storage = float;
  __device__ static float widen(float x) { return x; }
};
struct Float16 {
  using Storage = std::uint16_t;
  __device__ static float widen(std::uint16_t x) { return float16_to_float32(x); }
  __device__ static std::uint16_t round(float x) { return round_to_float16(x); }
};
struct BFloat16 {
  using Storage = std::uint16_t;
  __device__ static float widen(std::uint16_t x) { return bfloat16_to_float32(x); }
  __device__ static std::uint16_t round(float x) { return round_to_bfloat16(x); }
};

/// Eight elements, as whole 16-byte words.
template <class T>
struct alignas(16) Octet {
  T values[kPerThread];
};

template <class T>
__device__ void load_octet(const T* from, std::int64_t count, bool is_aligned, Octet<T>& octet) {
  if (is_aligned && count == kPerThread) {
    constexpr int kWords = sizeof(octet) / 16;
    const auto* words = reinterpret_cast<const uint4*>(from);
    auto* into = reinterpret_cast<uint4*>(octet.values);
#pragma unroll
    for (int i = 0; i < kWords; ++i) into[i] = words[i];
  } else {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i)
      if (i < count) octet.values[i] = from[i];
  }
}

template <class T>
__device__ void store_octet(T* to, std::int64_t count, bool is_aligned, const Octet<T>& octet) {
  if (is_aligned && count == kPerThread) {
    constexpr int kWords = sizeof(octet) / 16;
    const auto* words = reinterpret_cast<const uint4*>(octet.values);
    auto* into = reinterpret_cast<uint4*>(to);
#pragma unroll
    for (int i = 0; i < kWords; ++i) into[i] = words[i];
  } else {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i)
      if (i < count) to[i] = octet.values[i];
  }
}

__device__ bool is_aligned_16(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

template <class In, class Out>
__global__ void __launch_bounds__(kThreads)
    cast_encode_kernel(const typename In::Storage* in, std::int64_t n, std::uint16_t* out) {
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kPerThread;
  if (first >= n) return;
  const std::int64_t count = n - first < kPerThread ? n - first : kPerThread;
  Octet<typename In::Storage> x{};
  load_octet(in + first, count, is_aligned_16(in), x);
  Octet<std::uint16_t> y{};
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) y.values[i] = Out::round(In::widen(x.values[i]));
  store_octet(out + first, count, is_aligned_16(out), y);
}

template <class In, bool kAccumulate>
__global__ void __launch_bounds__(kThreads)
    cast_decode_kernel(const std::uint16_t* in, std::int64_t n, float* out) {
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kPerThread;
  if (first >= n) return;
  const std::int64_t count = n - first < kPerThread ? n - first : kPerThread;
  const bool out_is_aligned = is_aligned_16(out);
  Octet<std::uint16_t> x{};
  load_octet(in + first, count, is_aligned_16(in), x);
  Octet<float> y{};
  if (kAccumulate) load_octet(static_cast<const float*>(out) + first, count, out_is_aligned, y);
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const float value = In::widen(x.values[i]);
    y.values[i] = kAccumulate ? __fadd_rn(y.values[i], value) : value;
  }
  store_octet(out + first, count, out_is_aligned, y);
}

unsigned blocks_for(std::int64_t n) {
  constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kPerThread;
  const std::int64_t blocks = (n + kPerBlock - 1) / kPerBlock;
  if (blocks > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported, "cast: a message of " + std::to_string(n) +
                                             " elements has more blocks than a CUDA grid");
  return static_cast<unsigned>(blocks);
}

template <class In, class Out>
void launch_encode(const void* in, std::int64_t n, std::byte* out, cudaStream_t stream) {
  cast_encode_kernel<In, Out><<<blocks_for(n), kThreads, 0, stream>>>(
      static_cast<const typename In::Storage*>(in), n, reinterpret_cast<std::uint16_t*>(out));
  TERSOR_LAUNCH_CHECK("cast_encode_kernel");
}

template <class Out>
void launch_encode_to(const TensorView& in, std::byte* out, cudaStream_t stream) {
  const std::int64_t n = in.shape.elements();
  switch (in.dtype) {
    case DType::kFloat32: return launch_encode<Float32, Out>(in.data, n, out, stream);
    case DType::kFloat16: return launch_encode<Float16, Out>(in.data, n, out, stream);
    case DType::kBFloat16: return launch_encode<BFloat16, Out>(in.data, n, out, stream);
  }
}

void launch_cast_encode(const TensorView& in, DType format, std::byte* out, void* stream) {
  if (in.shape.elements() == 0) return;
  const auto on = static_cast<cudaStream_t>(stream);
  if (format == DType::kFloat16)
    launch_encode_to<Float16>(in, out, on);
  else
    launch_encode_to<BFloat16>(in, out, on);
}

template <class In, bool kAccumulate>
void launch_decode(const std::byte* payload, std::int64_t n, float* out, void* stream) {
  cast_decode_kernel<In, kAccumulate>
      <<<blocks_for(n), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
          reinterpret_cast<const std::uint16_t*>(payload), n, out);
  TERSOR_LAUNCH_CHECK("cast_decode_kernel");
}

void launch_cast_decode(const std::byte* payload, DType format, std::int64_t n, bool is_accumulated,
                        float* out, void* stream) {
  if (n == 0) return;
  if (format == DType::kFloat16)
    is_accumulated ? launch_decode<Float16, true>(payload, n, out, stream)
                   : launch_decode<Float16, false>(payload, n, out, stream);
  else
    is_accumulated ? launch_decode<BFloat16, true>(payload, n, out, stream)
                   : launch_decode<BFloat16, false>(payload, n, out, stream);
}

constexpr CastLaunchers kLaunchers{launch_cast_encode, launch_cast_decode};
const DeviceTable<CastLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
