// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "compressors/api/floats.hpp"
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

// Keys whose bits from `shift` up equal `prefix`, in order; out may be keys.
std::int64_t collect_prefix(const std::uint32_t* keys, std::int64_t n, int shift,
                            std::uint32_t prefix, std::uint32_t* out) {
  std::int64_t found = 0;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i wanted = _mm512_set1_epi32(static_cast<int>(prefix));
  const __m128i by = _mm_cvtsi32_si128(shift);
  for (; i + 16 <= n; i += 16) {
    const __m512i key = _mm512_loadu_si512(keys + i);
    const __mmask16 taken = _mm512_cmpeq_epi32_mask(_mm512_srl_epi32(key, by), wanted);
    if (taken == 0) continue;
    _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(taken, key));
    found += std::popcount(static_cast<std::uint32_t>(taken));
  }
#endif
  for (; i < n; ++i) {
    const std::uint32_t key = keys[i];
    out[found] = key;
    found += key >> shift == prefix ? 1 : 0;
  }
  return found;
}

std::int64_t collect_magnitudes(const float* x, std::int64_t count, std::uint32_t first,
                                std::uint32_t lowest, std::uint32_t* keys,
                                std::uint32_t* positions) {
  std::int64_t found = 0;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i limit = _mm512_set1_epi32(static_cast<int>(lowest));
  const __m512i infinity = _mm512_set1_epi32(0x7F800000);
  __m512i position =
      _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first)),
                       _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  for (; i + 16 <= count; i += 16) {
    __m512i key = _mm512_and_epi32(_mm512_loadu_si512(x + i), _mm512_set1_epi32(0x7FFFFFFF));
    key = _mm512_mask_set1_epi32(key, _mm512_cmpgt_epi32_mask(key, infinity), 0x7FC00000);
    const __mmask16 taken = _mm512_cmpge_epi32_mask(key, limit);
    if (taken != 0) {
      _mm512_storeu_si512(keys + found, _mm512_maskz_compress_epi32(taken, key));
      _mm512_storeu_si512(positions + found, _mm512_maskz_compress_epi32(taken, position));
      found += std::popcount(static_cast<std::uint32_t>(taken));
    }
    position = _mm512_add_epi32(position, _mm512_set1_epi32(16));
  }
#elif HWY_TARGET <= HWY_AVX2
  const __m256i below = _mm256_set1_epi32(static_cast<int>(lowest) - 1);
  for (; i + 8 <= count; i += 8) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    const __m256i key = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    auto taken = static_cast<std::uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(key, below))));
    for (; taken != 0; taken &= taken - 1) {
      const std::int64_t at = i + std::countr_zero(taken);
      keys[found] = magnitude_key(x[at]);
      positions[found++] = first + static_cast<std::uint32_t>(at);
    }
  }
#endif
  for (; i < count; ++i) {
    const std::uint32_t key = magnitude_key(x[i]);
    keys[found] = key;
    positions[found] = first + static_cast<std::uint32_t>(i);
    found += key >= lowest ? 1 : 0;
  }
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors {
namespace {

HWY_EXPORT(positions_above);
HWY_EXPORT(collect_prefix);
HWY_EXPORT(collect_magnitudes);

// The digit of `width` bits at `shift` that holds the k-th largest key; k becomes its rank among
// the `count` keys with that digit.
template <int kWidth>
std::uint32_t select_digit(std::span<const std::uint32_t> keys, int shift, std::int64_t& k,
                           std::int64_t& count) {
  constexpr std::uint32_t kDigits = 1u << kWidth;
  // Two tables, so that equal neighbours do not wait for each other's store.
  std::array<std::array<std::uint32_t, kDigits>, 2> histogram{};
  const auto digit = [&](std::uint32_t key) { return (key >> shift) & (kDigits - 1); };
  std::size_t i = 0;
  for (; i + 2 <= keys.size(); i += 2) {
    ++histogram[0][digit(keys[i])];
    ++histogram[1][digit(keys[i + 1])];
  }
  if (i < keys.size()) ++histogram[0][digit(keys[i])];
  for (std::uint32_t d = kDigits; d-- > 0;) {
    count = std::int64_t{histogram[0][d]} + histogram[1][d];
    if (k <= count) return d;
    k -= count;
  }
  return 0;
}

// The same for a handful of keys, which it sorts.
Threshold threshold_of_few(std::span<const std::uint32_t> keys, std::int64_t k) {
  std::array<std::uint32_t, 32> sorted{};
  std::partial_sort_copy(keys.begin(), keys.end(), sorted.begin(),
                         sorted.begin() + std::ssize(keys), std::greater<>());
  Threshold t{sorted[static_cast<std::size_t>(k - 1)], k, 0};
  for (const std::uint32_t key : keys) {
    t.ties_taken -= key > t.key ? 1 : 0;
    t.ties += key == t.key ? 1 : 0;
  }
  return t;
}

template <int kWidth>
Threshold radix_threshold(std::span<const std::uint32_t> keys, std::int64_t k,
                          std::span<std::uint32_t> spare) {
  std::uint32_t prefix = 0;
  std::int64_t count = 0;
  for (int shift = 32 - kWidth;; shift -= kWidth) {
    if (keys.size() <= 32) return threshold_of_few(keys, k);
    if (shift <= 0) {
      // The last digit overlaps the one before it, whose bits are all equal by now.
      prefix = (prefix << (kWidth + shift)) |
               (select_digit<kWidth>(keys, 0, k, count) & ((1u << (kWidth + shift)) - 1));
      return {prefix, k, count};
    }
    prefix = prefix << kWidth | select_digit<kWidth>(keys, shift, k, count);
    const std::int64_t left = HWY_DYNAMIC_DISPATCH(collect_prefix)(keys.data(), std::ssize(keys),
                                                                   shift, prefix, spare.data());
    keys = spare.first(static_cast<std::size_t>(left));
  }
}

}  // namespace

Threshold find_threshold(std::span<const std::uint32_t> keys, std::int64_t k,
                         std::span<std::uint32_t> spare) {
  // A table of 2,048 digits costs more to clear and read than a short list does to count.
  return keys.size() > 16384 ? radix_threshold<11>(keys, k, spare)
                             : radix_threshold<8>(keys, k, spare);
}

std::int64_t positions_above(std::span<const std::uint32_t> keys, const Threshold& threshold,
                             std::uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(positions_above)(keys, threshold, out);
}

Threshold select_largest(std::span<const std::uint32_t> keys, std::int64_t k,
                         std::span<std::uint32_t> spare, std::uint32_t* out) {
  const Threshold threshold = find_threshold(keys, k, spare);
  positions_above(keys, threshold, out);
  return threshold;
}

std::int64_t collect_magnitudes(const float* x, std::int64_t count, std::uint32_t first,
                                std::uint32_t lowest, std::uint32_t* keys,
                                std::uint32_t* positions) {
  return HWY_DYNAMIC_DISPATCH(collect_magnitudes)(x, count, first, lowest, keys, positions);
}

}  // namespace tersor::compressors
#endif  // HWY_ONCE
