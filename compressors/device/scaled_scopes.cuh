// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/device_plan.hpp"
#include "compressors/device/tiles.cuh"

/// What a scope is reduced to, and where the scopes of a tensor are (scaled.cuh).
namespace tersor::compressors::device {

// ---- what a scope is reduced to

/// The largest finite magnitude, as bits.
struct MagnitudeKey {
  std::uint32_t bits = 0;
  __device__ __forceinline__ void take(float x) {
    const std::uint32_t magnitude = magnitude_bits(x);
    merge({magnitude < 0x7F800000u ? magnitude : 0u});
  }
  __device__ __forceinline__ void merge(MagnitudeKey other) {
    bits = bits > other.bits ? bits : other.bits;
  }
  __device__ __forceinline__ void merge_lanes(int distance) {
    merge({__shfl_xor_sync(kAllLanes, bits, distance)});
  }
};

/// Smallest and largest finite value, -0 as +0, as integers in the order of the values.
struct RangeKey {
  std::uint32_t low = 0xFFFFFFFFu;
  std::uint32_t high = 0;
  __device__ __forceinline__ void take(float x) {
    if (!is_finite(x)) return;
    const std::uint32_t bits = bits_of(__fadd_rn(x, 0.0f));
    const std::uint32_t key = bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFu : 0x80000000u);
    merge({key, key});
  }
  __device__ __forceinline__ void merge(RangeKey other) {
    low = low < other.low ? low : other.low;
    high = high > other.high ? high : other.high;
  }
  __device__ __forceinline__ void merge_lanes(int distance) {
    merge({__shfl_xor_sync(kAllLanes, low, distance), __shfl_xor_sync(kAllLanes, high, distance)});
  }
  __device__ __forceinline__ bool is_empty() const { return low > high; }
  __device__ __forceinline__ static float value(std::uint32_t key) {
    return float_of(key ^ ((key >> 31) != 0 ? 0x80000000u : 0xFFFFFFFFu));
  }
};

template <class Key>
__device__ __forceinline__ void merge_warp(Key& key) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) key.merge_lanes(distance);
}

/// Every thread of the block gets the merged key.
template <class Key>
__device__ __forceinline__ void merge_block(Key& key) {
  TERSOR_SHARED_ARRAY(std::uint32_t, words, kWarps * 2);  // a Key has at most two words
  auto* of_warp = reinterpret_cast<Key*>(words);
  merge_warp(key);
  if (lane_of_thread() == 0) of_warp[warp_of_thread()] = key;
  __syncthreads();
  key = of_warp[0];
  for (int warp = 1; warp < kWarps; ++warp) key.merge(of_warp[warp]);
  __syncthreads();
}

/// Thread tile `x` of which `left` elements are there.
template <class Key>
__device__ __forceinline__ void take_thread_tile(Key& key, const float* x, std::int64_t left) {
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (i < left) key.take(x[i]);
}

// ---- scopes of elements

struct Scopes {
  enum Kind : std::uint8_t { kRuns, kChannels, kGroups };
  std::int64_t n = 0;
  std::int64_t scopes = 0;
  std::int64_t length = 0;   ///< kRuns
  std::int64_t hidden = 0;   ///< kChannels, kGroups
  std::int64_t group = 0;    ///< kGroups
  std::int64_t per_row = 0;  ///< kGroups
  Kind kind = kRuns;
  bool is_thread_tile_in_one = false;  ///< no thread tile has elements of two scopes
  bool is_thread_tile_consecutive =
      false;  ///< a thread tile has elements of eight consecutive channels

  __device__ __forceinline__ std::int64_t of(std::int64_t i) const {
    switch (kind) {
      case kRuns: return divide(i, length);
      case kChannels: return i - divide(i, hidden) * hidden;
      case kGroups: break;
    }
    const std::int64_t row = divide(i, hidden);
    return row * per_row + divide(i - row * hidden, group);
  }
  /// i / by; 64-bit divisions take four times as long.
  __device__ __forceinline__ std::int64_t divide(std::int64_t i, std::int64_t by) const {
    return n <= 0xFFFFFFFFll ? static_cast<std::int64_t>(static_cast<std::uint32_t>(i) /
                                                         static_cast<std::uint32_t>(by))
                             : i / by;
  }
  /// First element, elements and distance of a scope.
  __device__ __forceinline__ ScopeSlice slice(std::int64_t scope) const {
    if (kind == kRuns) return {scope * length, length, 1};
    if (kind == kChannels) return {scope, n / hidden, hidden};
    const std::int64_t column = scope % per_row * group;
    const std::int64_t rest = hidden - column;
    return {scope / per_row * hidden + column, rest < group ? rest : group, 1};
  }
};

inline Scopes device_scopes(const ScopeGrid& grid, const Shape& shape) {
  Scopes scopes;
  scopes.n = shape.elements();
  scopes.scopes = grid.count();
  scopes.length = grid.longest();
  scopes.hidden = shape.hidden;
  scopes.group = grid.group();
  scopes.per_row = divide_up(shape.hidden, grid.group());
  if (!grid.is_contiguous())
    scopes.kind = Scopes::kChannels;
  else if (scopes.scopes * scopes.length != scopes.n)
    scopes.kind = Scopes::kGroups;
  const bool is_run = scopes.kind == Scopes::kRuns;
  const bool is_whole = shape.hidden % 8 == 0 && scopes.group % 8 == 0;
  scopes.is_thread_tile_in_one = is_run ? scopes.length % 8 == 0 || scopes.scopes == 1
                                        : scopes.kind == Scopes::kGroups && is_whole;
  scopes.is_thread_tile_consecutive = scopes.kind == Scopes::kChannels && shape.hidden % 8 == 0;
  return scopes;
}

}  // namespace tersor::compressors::device
