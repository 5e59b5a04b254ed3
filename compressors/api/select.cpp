// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/select.hpp"

#include <array>
#include <bit>

#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/api/select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors {
namespace HWY_NAMESPACE {

std::int64_t positions_above(std::span<const std::uint32_t> keys, const Threshold& threshold,
                             std::uint32_t* out) {
  const auto n = std::ssize(keys);
  std::int64_t found = 0;
  std::int64_t ties_left = threshold.ties_taken;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i wanted = _mm512_set1_epi32(static_cast<int>(threshold.key));
  __m512i position = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (; i + 16 <= n; i += 16) {
    const __m512i key = _mm512_loadu_si512(keys.data() + i);
    __mmask16 taken = _mm512_cmpge_epu32_mask(key, wanted);
    if (taken != 0) {
      std::uint32_t equal = _mm512_cmpeq_epu32_mask(key, wanted);
      std::int64_t ties = std::popcount(equal);
      if (ties > ties_left) {
        // The last ties_left of this block's equal keys go: drop the highest set bits.
        std::uint32_t kept = 0;
        for (; ties_left > 0; --ties_left, equal &= equal - 1) kept |= equal & -equal;
        taken = static_cast<__mmask16>(_mm512_cmpgt_epu32_mask(key, wanted) | kept);
        ties = 0;
      }
      ties_left -= ties;
      _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(taken, position));
      found += std::popcount(static_cast<std::uint32_t>(taken));
    }
    position = _mm512_add_epi32(position, _mm512_set1_epi32(16));
  }
#elif HWY_TARGET <= HWY_AVX2
  const __m256i wanted = _mm256_set1_epi32(static_cast<int>(threshold.key));
  for (; i + 8 <= n; i += 8) {
    const __m256i key = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys.data() + i));
    const __m256i at_least = _mm256_cmpeq_epi32(_mm256_max_epu32(key, wanted), key);
    auto taken = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(at_least)));
    for (; taken != 0; taken &= taken - 1) {
      const std::int64_t at = i + std::countr_zero(taken);
      const bool is_tie = keys[static_cast<std::size_t>(at)] == threshold.key;
      out[found] = static_cast<std::uint32_t>(at);
      found += !is_tie || ties_left > 0 ? 1 : 0;
      ties_left -= is_tie ? 1 : 0;
    }
  }
#endif
  for (; i < n; ++i) {
    const std::uint32_t key = keys[static_cast<std::size_t>(i)];
    const bool is_tie = key == threshold.key;
    out[found] = static_cast<std::uint32_t>(i);
    found += key > threshold.key || (is_tie && ties_left > 0) ? 1 : 0;
    ties_left -= is_tie ? 1 : 0;
  }
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors {
namespace {

// One digit of a radix selection: of the keys whose bits above `shift + bits` equal `prefix`, finds
// the digit that holds the k-th largest; k becomes its rank inside, `count` the keys there.
template <int kBits>
std::uint32_t select_digit(std::span<const std::uint32_t> keys, int shift, std::uint32_t prefix,
                           bool has_prefix, std::int64_t& k, std::int64_t& count) {
  constexpr std::uint32_t kDigits = 1u << kBits;
  // Two tables, so that equal neighbours do not wait for each other's store.
  std::array<std::array<std::uint32_t, kDigits>, 2> histogram{};
  const auto digit = [&](std::uint32_t key) { return (key >> shift) & (kDigits - 1); };
  std::size_t i = 0;
  if (!has_prefix) {
    for (; i + 2 <= keys.size(); i += 2) {
      ++histogram[0][digit(keys[i])];
      ++histogram[1][digit(keys[i + 1])];
    }
    if (i < keys.size()) ++histogram[0][digit(keys[i])];
  } else {
    for (; i < keys.size(); ++i) {
      if (keys[i] >> (shift + kBits) == prefix) ++histogram[i % 2][digit(keys[i])];
    }
  }
  for (std::uint32_t d = kDigits; d-- > 0;) {
    count = std::int64_t{histogram[0][d]} + histogram[1][d];
    if (k <= count) return d;
    k -= count;
  }
  return 0;
}

}  // namespace

Threshold find_threshold(std::span<const std::uint32_t> keys, std::int64_t k) {
  std::int64_t count = 0;
  std::uint32_t prefix = select_digit<11>(keys, 21, 0, false, k, count);
  prefix = prefix << 11 | select_digit<11>(keys, 10, prefix, true, k, count);
  prefix = prefix << 10 | select_digit<10>(keys, 0, prefix, true, k, count);
  return {prefix, k, count};
}

HWY_EXPORT(positions_above);

std::int64_t positions_above(std::span<const std::uint32_t> keys, const Threshold& threshold,
                             std::uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(positions_above)(keys, threshold, out);
}

Threshold select_largest(std::span<const std::uint32_t> keys, std::int64_t k, std::uint32_t* out) {
  const Threshold threshold = find_threshold(keys, k);
  positions_above(keys, threshold, out);
  return threshold;
}

}  // namespace tersor::compressors
#endif  // HWY_ONCE
