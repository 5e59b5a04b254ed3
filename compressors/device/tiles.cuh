// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "common/error.hpp"
#include "common/tensor.hpp"
#include "compressors/device/device.cuh"
#include "compressors/wire/floats.hpp"

/// How kernels read and write tensors and payloads. A warp takes tiles of 1,024 consecutive
/// elements in four sub-tiles of 256; in a sub-tile each lane owns one thread tile, eight
/// consecutive elements, so that its codes of any width fill whole bytes:
///
///   tensor --16-byte loads--> thread tiles in registers --codes--> stage (shared) --16-byte
///   stores--> payload, and the other way round
namespace tersor::compressors::device {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kResidentBlocks = 4;  ///< a multiprocessor holds: 1,024 threads of up to 64 registers
constexpr int kEncodingBlocks = 3;  ///< the same of kernels that encode: up to 80 registers
constexpr int kSubtile = 256;
constexpr int kSubtiles = 4;
constexpr int kTile = kSubtile * kSubtiles;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

__device__ __forceinline__ unsigned lane_of_thread() { return threadIdx.x % 32; }
__device__ __forceinline__ unsigned warp_of_thread() { return threadIdx.x / 32; }
__device__ __forceinline__ bool is_aligned_16(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

/// Element types: exact to float32, and rounded as METHODS section 1 says.
struct Float32 {
  using Storage = float;
  __device__ static __forceinline__ float widen(float x) { return x; }
  __device__ static __forceinline__ float round(float x) {
    return is_nan(x) ? float_of(kNan32) : x;
  }
};
struct Float16 {
  using Storage = std::uint16_t;
  __device__ static __forceinline__ float widen(std::uint16_t x) { return float16_to_float32(x); }
  __device__ static __forceinline__ std::uint16_t round(float x) { return round_to_float16(x); }
};
struct BFloat16 {
  using Storage = std::uint16_t;
  __device__ static __forceinline__ float widen(std::uint16_t x) { return bfloat16_to_float32(x); }
  __device__ static __forceinline__ std::uint16_t round(float x) { return round_to_bfloat16(x); }
};

/// Calls run(T{}) with the type of the dtype.
template <class Run>
void with_type(DType dtype, Run run) {
  switch (dtype) {
    case DType::kFloat32: return run(Float32{});
    case DType::kFloat16: return run(Float16{});
    case DType::kBFloat16: return run(BFloat16{});
  }
}

/// Whether a kernel that reads or writes a tensor of T has paired lanes. float32 comes as two quads
/// a lane, 16 bytes each and both coalesced; neighbouring lanes then swap one, which leaves the
/// thread tiles in another order than the lanes.
template <class T>
inline constexpr bool kIsPaired = sizeof(typename T::Storage) == 4;

/// The thread tile of the sub-tile that this lane owns.
template <bool kPaired>
__device__ __forceinline__ unsigned thread_tile_of_lane(unsigned lane) {
  return kPaired ? (lane >> 1) | (lane & 1u) << 4 : lane;
}
/// Distance between the lanes that own thread tiles o and o ^ (1 << bit).
template <bool kPaired>
__device__ __forceinline__ int lane_distance(int bit) {
  return kPaired ? (bit == 4 ? 1 : 2 << bit) : 1 << bit;
}

__device__ __forceinline__ float4 swap_quad(float4 quad) {
  return make_float4(__shfl_xor_sync(kAllLanes, quad.x, 1), __shfl_xor_sync(kAllLanes, quad.y, 1),
                     __shfl_xor_sync(kAllLanes, quad.z, 1), __shfl_xor_sync(kAllLanes, quad.w, 1));
}
__device__ __forceinline__ void put_quad(float4 quad, float* x) {
  x[0] = quad.x;
  x[1] = quad.y;
  x[2] = quad.z;
  x[3] = quad.w;
}
__device__ __forceinline__ float4 take_quad(const float* x) {
  return make_float4(x[0], x[1], x[2], x[3]);
}

template <class T>
__device__ __forceinline__ void unpack_words(uint4 words, float* x) {
  const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = T::widen(static_cast<std::uint16_t>(word[i]));
    x[2 * i + 1] = T::widen(static_cast<std::uint16_t>(word[i] >> 16));
  }
}
template <class T>
__device__ __forceinline__ uint4 pack_words(const float* x) {
  std::uint32_t word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    word[i] = static_cast<std::uint32_t>(T::round(x[2 * i])) |
              static_cast<std::uint32_t>(T::round(x[2 * i + 1])) << 16;
  return make_uint4(word[0], word[1], word[2], word[3]);
}

/// The lane's thread tile of a sub-tile at `in` that has `count` elements (more than 256 count as
/// 256); what is behind is 0. All lanes of the warp call it with the same arguments.
template <class T, bool kPaired = kIsPaired<T>>
__device__ __forceinline__ void load_thread_tile(const typename T::Storage* in, std::int64_t count,
                                                 bool is_aligned, float* x) {
  static_assert(kPaired || !kIsPaired<T>);
  const unsigned lane = lane_of_thread();
  const unsigned first = 8 * thread_tile_of_lane<kPaired>(lane);
  if (is_aligned && count >= kSubtile) {
    if constexpr (kIsPaired<T>) {
      const auto* quads = reinterpret_cast<const float4*>(in);
      const float4 a = load_vector(quads + lane);
      const float4 b = load_vector(quads + 32 + lane);
      const bool is_odd = (lane & 1u) != 0;
      const float4 swapped = swap_quad(is_odd ? a : b);
      put_quad(is_odd ? swapped : a, x);
      put_quad(is_odd ? b : swapped, x + 4);
    } else {
      unpack_words<T>(load_vector(reinterpret_cast<const uint4*>(in + first)), x);
    }
  } else if (is_aligned && count >= first + 8) {
    if constexpr (kIsPaired<T>) {
      const auto* quads = reinterpret_cast<const float4*>(in + first);
      put_quad(load_vector(quads), x);
      put_quad(load_vector(quads + 1), x + 4);
    } else {
      unpack_words<T>(load_vector(reinterpret_cast<const uint4*>(in + first)), x);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = first + i < count ? T::widen(in[first + i]) : 0.0f;
  }
}

/// Four values of float32, NaN as the canonical one.
__device__ __forceinline__ float4 canonical_quad(const float* x) {
  return make_float4(Float32::round(x[0]), Float32::round(x[1]), Float32::round(x[2]),
                     Float32::round(x[3]));
}

/// The reverse, rounded to T; NaN becomes the canonical one.
template <class T, bool kPaired = kIsPaired<T>>
__device__ __forceinline__ void store_thread_tile(typename T::Storage* out, std::int64_t count,
                                                  bool is_aligned, const float* x) {
  static_assert(kPaired || !kIsPaired<T>);
  const unsigned lane = lane_of_thread();
  const unsigned first = 8 * thread_tile_of_lane<kPaired>(lane);
  if (is_aligned && count >= kSubtile) {
    if constexpr (kIsPaired<T>) {
      auto* quads = reinterpret_cast<float4*>(out);
      const bool is_odd = (lane & 1u) != 0;
      const float4 low = canonical_quad(x);
      const float4 high = canonical_quad(x + 4);
      const float4 swapped = swap_quad(is_odd ? low : high);
      store_vector(quads + lane, is_odd ? swapped : low);
      store_vector(quads + 32 + lane, is_odd ? high : swapped);
    } else {
      store_vector(reinterpret_cast<uint4*>(out + first), pack_words<T>(x));
    }
  } else if (is_aligned && count >= first + 8) {
    if constexpr (kIsPaired<T>) {
      auto* quads = reinterpret_cast<float4*>(out + first);
      store_vector(quads, canonical_quad(x));
      store_vector(quads + 1, canonical_quad(x + 4));
    } else {
      store_vector(reinterpret_cast<uint4*>(out + first), pack_words<T>(x));
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (first + i < count) out[first + i] = T::round(x[i]);
  }
}

/// A little-endian value at any address.
template <class T>
__device__ __forceinline__ T load_bytes(const std::byte* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(T) == 0)
    return *reinterpret_cast<const T*>(from);
  T value = 0;
#pragma unroll
  for (unsigned i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(from[i]) << 8 * i));
  return value;
}
template <class T>
__device__ __forceinline__ void store_bytes(std::byte* to, T value) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(T) == 0) {
    *reinterpret_cast<T*>(to) = value;
    return;
  }
#pragma unroll
  for (unsigned i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> 8 * i);
}

/// Payloads that one launch decodes and sums, in this order.
struct Payloads {
  static constexpr int kMost = 8;
  const std::byte* at[kMost];
  int count;
};

/// DecodeTarget::feedback of one launch.
struct FeedbackArrays {
  float* at[Payloads::kMost];

  explicit FeedbackArrays(std::span<float* const> arrays) : at() {
    TERSOR_CHECK(arrays.size() <= Payloads::kMost, "more arrays than a launch takes");
    std::copy(arrays.begin(), arrays.end(), at);
  }
};

/// Adds the lane's thread tile of decoded values to array p, which stores the finite ones, and the
/// result to `sum`, which becomes it where it is the first. All lanes call it.
__device__ __forceinline__ void add_to_feedback(float* feedback, std::int64_t count,
                                                const float* decoded, bool is_first, float* sum) {
  float k[8];
  load_thread_tile<Float32>(feedback, count, is_aligned_16(feedback), k);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    k[i] = __fadd_rn(k[i], decoded[i]);
    sum[i] = is_first ? k[i] : __fadd_rn(sum[i], k[i]);
    k[i] = finite_or_zero(k[i]);
  }
  store_thread_tile<Float32>(feedback, count, is_aligned_16(feedback), k);
}

/// Calls run(payloads, is_accumulated) for at most Payloads::kMost at a time: more than those take
/// further launches, which add to the output of the first.
template <class Run>
void for_each_batch(std::span<const std::span<const std::byte>> all, bool is_accumulated, Run run) {
  for (std::size_t first = 0; first < all.size(); first += Payloads::kMost) {
    Payloads payloads{};
    while (payloads.count < Payloads::kMost && first + payloads.count < all.size()) {
      payloads.at[payloads.count] = all[first + payloads.count].data();
      ++payloads.count;
    }
    run(payloads, is_accumulated || first > 0);
  }
}

/// Blocks of a grid in which each warp takes one tile. Throws Error(kUnsupported) above what a
/// grid holds (2^44 elements).
inline unsigned blocks_of_tiles(std::int64_t n, const char* codec) {
  constexpr std::int64_t kPerBlock = std::int64_t{kTile} * kWarps;
  const std::int64_t blocks = (n + kPerBlock - 1) / kPerBlock;
  if (blocks > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported, std::string(codec) + ": a message of " +
                                             std::to_string(n) +
                                             " elements has more blocks than a CUDA grid");
  return static_cast<unsigned>(blocks);
}
/// First element of the warp's tile.
__device__ __forceinline__ std::int64_t first_of_tile() {
  return (static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread()) * kTile;
}

}  // namespace tersor::compressors::device
