// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/tiles.cuh"

/// Sums and scans over the lanes of a warp and the warps of a block.
namespace tersor::compressors::device {

__device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(kAllLanes, x, distance);
  return x;
#else
  return __reduce_add_sync(kAllLanes, x);
#endif
}
/// Sum over lanes 0 .. the own one.
template <class Int>
__device__ __forceinline__ Int warp_scan(Int x) {
  const unsigned lane = lane_of_thread();
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Int before = __shfl_up_sync(kAllLanes, x, distance);
    if (lane >= distance) x += before;
  }
  return x;
}
/// The lane that owns a thread tile.
template <bool kPaired>
__device__ __forceinline__ unsigned lane_of_thread_tile(unsigned thread_tile) {
  return kPaired ? (thread_tile & 15u) << 1 | thread_tile >> 4 : thread_tile;
}
/// What the thread tiles before this lane's hold; `total` becomes the sum of all.
template <bool kPaired>
__device__ __forceinline__ std::uint32_t sum_before_thread_tile(std::uint32_t x,
                                                                std::uint32_t& total) {
  const unsigned lane = lane_of_thread();
  if constexpr (kPaired) {
    const std::uint32_t in_order =
        __shfl_sync(kAllLanes, x, static_cast<int>(lane_of_thread_tile<true>(lane)));
    const std::uint32_t scanned = warp_scan(in_order);
    total = __shfl_sync(kAllLanes, scanned, 31);
    return __shfl_sync(kAllLanes, scanned, static_cast<int>(thread_tile_of_lane<true>(lane))) - x;
  } else {
    const std::uint32_t scanned = warp_scan(x);
    total = __shfl_sync(kAllLanes, scanned, 31);
    return scanned - x;
  }
}

/// Sums over the warps that share a scope; one barrier each.
template <int kScopeWarps>
class ScopeSum {
 public:
  __device__ explicit ScopeSum(std::uint32_t (&shared)[2 * kScopeWarps]) : shared_(shared) {}
  __device__ __forceinline__ std::uint32_t operator()(std::uint32_t x) {
    x = warp_sum(x);
    if constexpr (kScopeWarps == 1) return x;
    std::uint32_t* const sums = shared_ + (turn_ & 1u) * kScopeWarps;
    ++turn_;  // the other half may still be read
    if (lane_of_thread() == 0) sums[warp_of_thread()] = x;
    __syncthreads();
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < kScopeWarps; ++i) sum += sums[i];
    return sum;
  }
  /// Of the warps before this one only.
  __device__ __forceinline__ std::uint32_t before(std::uint32_t x) {
    x = warp_sum(x);
    if constexpr (kScopeWarps == 1) return 0;
    std::uint32_t* const sums = shared_ + (turn_ & 1u) * kScopeWarps;
    ++turn_;
    if (lane_of_thread() == 0) sums[warp_of_thread()] = x;
    __syncthreads();
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < warp_of_thread(); ++i) sum += sums[i];
    return sum;
  }

 private:
  std::uint32_t* shared_;
  unsigned turn_ = 0;
};

}  // namespace tersor::compressors::device
