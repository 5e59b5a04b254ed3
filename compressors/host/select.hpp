// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

namespace tersor::compressors {

/// The smallest key among the k largest, and how many of the keys equal to it belong to them.
struct Threshold {
  std::uint32_t key = 0;
  std::int64_t ties_taken = 0;  ///< the ones with the lowest positions
  std::int64_t ties = 0;        ///< keys equal to `key` in all
};

/// Elements behind the last one that these functions may write.
inline constexpr std::int64_t kPositionSlack = 16;
/// Lists up to here are selected from by counting, which needs no `spare`.
inline constexpr std::int64_t kCountedKeys = 16384;

/// 1 <= k <= keys.size(). O(n), the same for every order of the keys. `spare` has keys.size() +
/// kPositionSlack elements. `guess`, where not 0, is a key near the answer: it saves time.
Threshold find_threshold(std::span<const std::uint32_t> keys, std::int64_t k,
                         std::span<std::uint32_t> spare, std::uint32_t guess = 0);
/// Positions of the keys above the threshold, and of the first ties_taken equal to it, ascending;
/// `out` has room for kPositionSlack more than the k positions that it returns.
std::int64_t positions_above(std::span<const std::uint32_t> keys, const Threshold& threshold,
                             std::uint32_t* out);
/// Both: the k largest keys, ties to the lowest position.
Threshold select_largest(std::span<const std::uint32_t> keys, std::int64_t k,
                         std::span<std::uint32_t> spare, std::uint32_t* out,
                         std::uint32_t guess = 0);

/// Appends value and position first + i of the elements whose magnitude key (every NaN the
/// canonical one) is `lowest` or more; returns how many. Both outputs have room for count +
/// kPositionSlack.
std::int64_t collect_magnitudes(const float* x, std::int64_t count, std::uint32_t first,
                                std::uint32_t lowest, float* values, std::uint32_t* positions);
/// Moves the k largest of those candidates (k <= values.size()), ties to the first one, and their
/// positions to the front, in order, NaN as the canonical one. Most candidates that belong to them
/// should have keys above `highest`: they are only counted. `keys` and `spare` have values.size() +
/// kPositionSlack elements. The threshold's ties are those among the candidates.
Threshold keep_largest(std::span<float> values, std::uint32_t* positions, std::int64_t k,
                       std::uint32_t highest, std::span<std::uint32_t> keys,
                       std::span<std::uint32_t> spare);

}  // namespace tersor::compressors
