// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/encode_sources.cuh"
#include "compressors/device/scaled_scopes.cuh"

/// The fixed tree (METHODS section 1): mean of x^2 or |x| of each scope.
namespace tersor::compressors::device {

constexpr int kTreeBlock = 4096;

template <class In, bool kSquares>
__device__ __forceinline__ float tree_term(typename Source<In>::Tensor in, std::int64_t i) {
  const float x = finite_or_zero(Source<In>::at(in, i));
  return kSquares ? __fmul_rn(x, x) : float_of(magnitude_bits(x));
}

/// Sums of the blocks of contiguous scopes: warp (scope, block) leaves sums[scope * blocks +
/// block].
template <class In, bool kSquares>
__global__ void __launch_bounds__(kThreads)
    tree_runs_kernel(typename Source<In>::Tensor in, Scopes scopes, std::int64_t blocks,
                     float* sums) {
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  const std::int64_t scope = warp / blocks;
  if (scope >= scopes.scopes) return;
  const ScopeSlice slice = scopes.slice(scope);
  const std::int64_t begin = (warp - scope * blocks) * kTreeBlock;
  const std::int64_t end = begin + kTreeBlock < slice.length ? begin + kTreeBlock : slice.length;
  float sum = 0.0f;
  for (std::int64_t i = begin + lane_of_thread(); i < end; i += 32)
    sum = __fadd_rn(sum, tree_term<In, kSquares>(in, slice.begin + i));
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
    sum = __fadd_rn(sum, __shfl_down_sync(kAllLanes, sum, half));
  if (lane_of_thread() == 0) sums[warp] = sum;
}

/// The same of channels: block (32 columns, block of rows), thread (column, lane).
template <class In, bool kSquares>
__global__ void __launch_bounds__(1024)
    tree_channels_kernel(typename Source<In>::Tensor in, Scopes scopes, std::int64_t blocks,
                         float* sums) {
  TERSOR_SHARED_ARRAY(float, lanes, 32 * 32);
  const std::int64_t tile = blockIdx.x / blocks;
  const std::int64_t block = blockIdx.x - tile * blocks;
  const std::int64_t channel = tile * 32 + threadIdx.x % 32;
  const unsigned lane = threadIdx.x / 32;
  const std::int64_t rows = scopes.n / scopes.hidden;
  const std::int64_t end = (block + 1) * kTreeBlock < rows ? (block + 1) * kTreeBlock : rows;
  float sum = 0.0f;
  if (channel < scopes.hidden)
    for (std::int64_t row = block * kTreeBlock + lane; row < end; row += 32)
      sum = __fadd_rn(sum, tree_term<In, kSquares>(in, row * scopes.hidden + channel));
  lanes[threadIdx.x] = sum;
  for (unsigned half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half)
      lanes[threadIdx.x] = __fadd_rn(lanes[threadIdx.x], lanes[threadIdx.x + half * 32]);
  }
  if (lane == 0 && channel < scopes.hidden) sums[channel * blocks + block] = lanes[threadIdx.x];
}

/// The sum of a scope from those of its blocks, by halves, in place; all lanes call it.
__device__ __forceinline__ float fold_blocks(float* sums, std::int64_t blocks) {
  std::int64_t half = 1;
  while (half < blocks) half *= 2;
  std::int64_t left = blocks;
  for (half /= 2; half > 0; half /= 2) {
    for (std::int64_t i = lane_of_thread(); i + half < left; i += 32)
      sums[i] = __fadd_rn(sums[i], sums[i + half]);
    left = left < half ? left : half;
    __syncwarp();
  }
  return sums[0];
}

/// Folds the block sums of each scope and divides: a warp per scope.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    tree_means_kernel(Scopes scopes, std::int64_t blocks, float* sums, Key* means) {
  const std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (scope >= scopes.scopes) return;
  const float sum = fold_blocks(sums + scope * blocks, blocks);
  if (lane_of_thread() > 0) return;
  const auto length = static_cast<float>(scopes.slice(scope).length);
  means[scope] = Key{bits_of(__fdiv_rn(sum, length))};
}

}  // namespace tersor::compressors::device
