// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/encode_sources.cuh"

/// Groups of spike: where they are, what a lane has of one, which values are reserved, and codes
/// (spike.cu).
namespace tersor::compressors::device {

inline constexpr int kLongestGroup = 256;
inline constexpr int kOwn = kLongestGroup / 32;  ///< values of a lane

struct Groups {
  std::int64_t rows = 0;
  std::int64_t hidden = 0;
  std::int64_t per_row = 0;
  std::int64_t n = 0;
  int group = 0;
  int reserve = 0;
  int bits = 0;
  bool are_whole = false;
  std::int64_t steps = 0;  ///< offsets of the payload's parts
  std::int64_t values = 0;
  std::int64_t positions = 0;
  std::int64_t planes = 0;
  std::int64_t plane_bytes = 0;
};

/// The warp's group.
struct Group {
  std::int64_t index;
  std::int64_t first;     ///< element of the tensor
  std::int64_t reserved;  ///< of the groups before it
  int length;
  int feedback;  ///< reserved values

  __device__ __forceinline__ Group(const Groups& groups, std::int64_t i) : index(i) {
    const std::int64_t row = i / groups.per_row;
    const std::int64_t column = i - row * groups.per_row;
    const std::int64_t left = groups.hidden - column * groups.group;
    length = static_cast<int>(left < groups.group ? left : groups.group);
    first = row * groups.hidden + column * groups.group;
    const int most = 2 * groups.reserve;
    const int whole = groups.group < most ? groups.group : most;
    feedback = length < most ? length : most;
    const std::int64_t rest = groups.hidden % groups.group;
    const std::int64_t of_row =
        groups.hidden / groups.group * whole + (rest < whole ? rest : whole);
    reserved = row * of_row + column * whole;
  }
};

/// Integers in the order of the values; no NaN, no -0.
__device__ __forceinline__ std::uint32_t key_of(float x) {
  return bits_of(x) ^ (bits_of(x) >> 31 != 0 ? 0xFFFFFFFFu : 0x80000000u);
}

/// What a lane has of a group: values i, i + 32, .. and bit k of `in` for each that is there.
struct Own {
  float x[kOwn];
  std::uint32_t in = 0;

  /// Position of the smallest (largest) value of the lanes' `mask`, ties to the lowest; in all
  /// lanes. There is one.
  template <bool kSmallest>
  __device__ __forceinline__ int extreme(std::uint32_t mask) const {
    std::uint64_t best = ~std::uint64_t{0};
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      const std::uint32_t key = kSmallest ? key_of(x[k]) : ~key_of(x[k]);
      const std::uint64_t candidate = std::uint64_t{key} << 8 | (32 * k + lane_of_thread());
      if ((mask >> k & 1u) != 0 && candidate < best) best = candidate;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      const std::uint64_t other = __shfl_xor_sync(kAllLanes, best, distance);
      best = other < best ? other : best;
    }
    return static_cast<int>(best & 0xFFu);
  }
  __device__ __forceinline__ static bool owns(int position) {
    return static_cast<unsigned>(position) % 32 == lane_of_thread();
  }
  /// Masks, not a choice between values: that would be one between addresses.
  __device__ __forceinline__ float at(int position) const {
    std::uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < kOwn; ++k)
      bits |= bits_of(x[k]) & (0u - static_cast<std::uint32_t>(position / 32 == k));
    return float_of(bits);
  }
};

/// Tells the payload of one reserved value; its owner writes.
__device__ __forceinline__ void write_reserved(const Groups& groups, const Group& group,
                                               const Own& own, int place, int position,
                                               std::byte* payload) {
  if (!Own::owns(position)) return;
  const std::int64_t at = group.reserved + place;
  store_bytes(payload + groups.values + 2 * at, scale_to_float16(own.at(position)));
  payload[groups.positions + at] = static_cast<std::byte>(position);
}

/// Chooses and sends the reserved values; returns bit k for each that the lane owns.
__device__ __forceinline__ std::uint32_t take_reserved(const Groups& groups, const Group& group,
                                                       const Own& own, std::byte* payload) {
  if (group.length <= 2 * groups.reserve) {
    for (int i = 0; i < group.length; ++i) write_reserved(groups, group, own, i, i, payload);
    return own.in;
  }
  std::uint32_t taken = 0;
  for (int r = 0; r < groups.reserve; ++r) {
    const int position = own.extreme<true>(own.in & ~taken);
    write_reserved(groups, group, own, r, position, payload);
    if (Own::owns(position)) taken |= 1u << position / 32;
  }
  std::uint32_t largest = 0;
  for (int r = 0; r < groups.reserve; ++r) {
    const int position = own.extreme<false>(own.in & ~taken & ~largest);
    if (Own::owns(position)) largest |= 1u << position / 32;
  }
  taken |= largest;
  for (int r = 0; r < groups.reserve; ++r) {  // ascending
    const int position = own.extreme<true>(largest);
    write_reserved(groups, group, own, groups.reserve + r, position, payload);
    if (Own::owns(position)) largest &= ~(1u << position / 32);
  }
  return taken;
}

struct Limits {
  std::uint16_t minimum;
  std::uint16_t step;
};

/// Of the finite values of the lanes' `mask`.
__device__ __forceinline__ Limits limits_of(const Own& own, std::uint32_t mask, float top) {
  float low = float_of(0x7F800000u);
  float high = -low;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    if ((mask >> k & 1u) == 0 || !is_finite(own.x[k])) continue;
    low = own.x[k] < low ? own.x[k] : low;
    high = high < own.x[k] ? own.x[k] : high;
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other_low = __shfl_xor_sync(kAllLanes, low, distance);
    const float other_high = __shfl_xor_sync(kAllLanes, high, distance);
    low = other_low < low ? other_low : low;
    high = high < other_high ? other_high : high;
  }
  if (low > high) low = high = 0.0f;
  const std::uint16_t minimum = scale_to_float16(low);
  const float range = __fsub_rn(high, float16_to_float32(minimum));
  return {minimum, scale_to_float16(__fdiv_rn(range, top))};
}

__device__ __forceinline__ std::uint32_t code_of(float x, float m, float s, float top) {
  float v = s == 0.0f ? 0.0f : __fdiv_rn(__fsub_rn(x, m), s);
  v = v > 0.0f ? v : 0.0f;
  v = v < top ? v : top;
  return static_cast<std::uint32_t>(round_nearest_even(v));
}

__device__ __forceinline__ float decoded(std::uint32_t code, float m, float s) {
  return __fadd_rn(m, __fmul_rn(static_cast<float>(static_cast<std::int32_t>(code)), s));
}

}  // namespace tersor::compressors::device
