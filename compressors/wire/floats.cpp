// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/floats.hpp"

#include <algorithm>
#include <array>

namespace tersor::compressors {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr int kLanes = 32;

template <bool kSquare>
float magnitude_term(float x) {
  const float value = finite_or_zero(x);
  return kSquare ? value * value : float_of(magnitude_bits(value));
}

template <bool kSquare>
float block_sum(const float* x, std::int64_t count, std::int64_t stride) {
  std::array<float, kLanes> lanes{};
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[static_cast<std::size_t>(lane)] += magnitude_term<kSquare>(x[(i + lane) * stride]);
  for (std::int64_t i = whole; i < count; ++i)
    lanes[static_cast<std::size_t>(i - whole)] += magnitude_term<kSquare>(x[i * stride]);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// Folding by halves pairs block i of m with block i + m: this walks that tree without an array of
/// block sums. `size` entries are left at this level, of `leaves` (a power of two) in all.
template <bool kSquare>
float fold(const float* x, std::int64_t n, std::int64_t stride, std::int64_t index,
           std::int64_t size, std::int64_t leaves) {
  if (size < leaves)
    return fold<kSquare>(x, n, stride, index, 2 * size, leaves) +
           fold<kSquare>(x, n, stride, index + size, 2 * size, leaves);
  const std::int64_t first = index * kBlock;
  if (first >= n) return 0.0f;
  return block_sum<kSquare>(x + first * stride, std::min(kBlock, n - first), stride);
}

template <bool kSquare>
float tree_mean(const float* x, std::int64_t n, std::int64_t stride) {
  const auto blocks = static_cast<std::uint64_t>((n + kBlock - 1) / kBlock);
  const auto leaves = static_cast<std::int64_t>(std::bit_ceil(blocks));
  return fold<kSquare>(x, n, stride, 0, 1, leaves) / static_cast<float>(n);
}

}  // namespace

float fixed_tree_mean(const float* x, std::int64_t n, std::int64_t stride, bool square) {
  if (n == 0) return 0.0f;
  return square ? tree_mean<true>(x, n, stride) : tree_mean<false>(x, n, stride);
}

float finite_absmax(const float* x, std::int64_t n, std::int64_t stride) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t magnitude = magnitude_bits(x[i * stride]);
    largest = std::max(largest, magnitude < 0x7F800000u ? magnitude : 0u);
  }
  return float_of(largest);
}

}  // namespace tersor::compressors
