// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/select.hpp"

#include <algorithm>
#include <bit>

#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/select.cpp"
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
    std::uint32_t equal = _mm512_cmpeq_epu32_mask(key, wanted);
    if (equal != 0) {
      std::int64_t ties = std::popcount(equal);
      if (ties > ties_left) {
        // The last ties_left of this block's equal keys go: drop the highest set bits.
        std::uint32_t selected = 0;
        for (; ties_left > 0; --ties_left, equal &= equal - 1) selected |= equal & -equal;
        taken = static_cast<__mmask16>(_mm512_cmpgt_epu32_mask(key, wanted) | selected);
        ties = 0;
      }
      ties_left -= ties;
    }
    _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(taken, position));
    found += std::popcount(static_cast<std::uint32_t>(taken));
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

#if HWY_TARGET <= HWY_AVX2
// The largest magnitude that is not collected. All NaN have one key, the bits of some are below it:
// above infinity every one is collected.
int highest_left_out(std::uint32_t lowest) {
  return static_cast<int>(std::min(lowest, 0x7F800001u)) - 1;
}
#endif

std::int64_t collect_magnitudes(const float* x, std::int64_t count, std::uint32_t first,
                                std::uint32_t lowest, float* values, std::uint32_t* positions) {
  std::int64_t found = 0;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i below = _mm512_set1_epi32(highest_left_out(lowest));
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (; i + 16 <= count; i += 16) {
    const __m512i bits = _mm512_loadu_si512(x + i);
    const __m512i magnitude = _mm512_and_epi32(bits, _mm512_set1_epi32(0x7FFFFFFF));
    const __mmask16 taken = _mm512_cmpgt_epi32_mask(magnitude, below);
    // Where most vectors hold a candidate, a branch would be guessed wrong too often.
    if (taken == 0 && found * 32 < i) continue;
    const __m512i position = _mm512_add_epi32(
        _mm512_set1_epi32(static_cast<int>(first + static_cast<std::uint32_t>(i))), lanes);
    _mm512_storeu_si512(values + found, _mm512_maskz_compress_epi32(taken, bits));
    _mm512_storeu_si512(positions + found, _mm512_maskz_compress_epi32(taken, position));
    found += std::popcount(static_cast<std::uint32_t>(taken));
  }
#elif HWY_TARGET <= HWY_AVX2
  const __m256i below = _mm256_set1_epi32(highest_left_out(lowest));
  for (; i + 8 <= count; i += 8) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    auto taken = static_cast<std::uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(magnitude, below))));
    for (; taken != 0; taken &= taken - 1) {
      const std::int64_t at = i + std::countr_zero(taken);
      values[found] = x[at];
      positions[found++] = first + static_cast<std::uint32_t>(at);
    }
  }
#endif
  for (; i < count; ++i) {
    values[found] = x[i];
    positions[found] = first + static_cast<std::uint32_t>(i);
    found += magnitude_key(x[i]) >= lowest ? 1 : 0;
  }
  return found;
}

// Keys of the values that are at most `highest`, in order.
std::int64_t collect_keys(const float* values, std::int64_t n, std::uint32_t highest,
                          std::uint32_t* keys) {
  std::int64_t found = 0;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i limit = _mm512_set1_epi32(static_cast<int>(highest));
  const __m512i infinity = _mm512_set1_epi32(0x7F800000);
  for (; i + 16 <= n; i += 16) {
    __m512i key = _mm512_and_epi32(_mm512_loadu_si512(values + i), _mm512_set1_epi32(0x7FFFFFFF));
    key = _mm512_mask_set1_epi32(key, _mm512_cmpgt_epi32_mask(key, infinity),
                                 static_cast<int>(kNan32));
    const __mmask16 taken = _mm512_cmple_epu32_mask(key, limit);
    _mm512_storeu_si512(keys + found, _mm512_maskz_compress_epi32(taken, key));
    found += std::popcount(static_cast<std::uint32_t>(taken));
  }
#endif
  for (; i < n; ++i) {
    const std::uint32_t key = magnitude_key(values[i]);
    keys[found] = key;
    found += key <= highest ? 1 : 0;
  }
  return found;
}

// Positions and values of the candidates above the threshold, and of the first ties_taken equal to
// it, to the front of both arrays; NaN becomes the canonical one.
std::int64_t keep_above(float* values, std::uint32_t* positions, std::int64_t n,
                        const Threshold& threshold) {
  std::int64_t selected = 0;
  std::int64_t ties_left = threshold.ties_taken;
  std::int64_t i = 0;
  const auto one = [&](std::int64_t at) {
    const float value = values[at];
    const std::uint32_t key = magnitude_key(value);
    const bool is_tie = key == threshold.key;
    positions[selected] = positions[at];
    values[selected] = is_nan(value) ? float_of(kNan32) : value;
    selected += key > threshold.key || (is_tie && ties_left > 0) ? 1 : 0;
    ties_left -= is_tie ? 1 : 0;
  };
#if HWY_TARGET <= HWY_AVX3
  const __m512i wanted = _mm512_set1_epi32(static_cast<int>(threshold.key));
  const __m512i infinity = _mm512_set1_epi32(0x7F800000);
  for (; i + 16 <= n; i += 16) {
    __m512i bits = _mm512_loadu_si512(values + i);
    __m512i key = _mm512_and_epi32(bits, _mm512_set1_epi32(0x7FFFFFFF));
    const __mmask16 nan = _mm512_cmpgt_epi32_mask(key, infinity);
    bits = _mm512_mask_set1_epi32(bits, nan, static_cast<int>(kNan32));
    key = _mm512_mask_set1_epi32(key, nan, static_cast<int>(kNan32));
    __mmask16 taken = _mm512_cmpgt_epu32_mask(key, wanted);
    const __mmask16 equal = _mm512_cmpeq_epi32_mask(key, wanted);
    if (equal != 0) {
      const int ties = std::popcount(static_cast<std::uint32_t>(equal));
      if (ties > ties_left) {
        for (int j = 0; j < 16; ++j) one(i + j);
        continue;
      }
      ties_left -= ties;
      taken = static_cast<__mmask16>(taken | equal);
    }
    const __m512i position = _mm512_loadu_si512(positions + i);
    _mm512_storeu_si512(values + selected, _mm512_maskz_compress_epi32(taken, bits));
    _mm512_storeu_si512(positions + selected, _mm512_maskz_compress_epi32(taken, position));
    selected += std::popcount(static_cast<std::uint32_t>(taken));
  }
#endif
  for (; i < n; ++i) one(i);
  return selected;
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors {
namespace {

HWY_EXPORT(positions_above);
HWY_EXPORT(collect_magnitudes);
HWY_EXPORT(collect_keys);
HWY_EXPORT(keep_above);

}  // namespace

std::int64_t positions_above(std::span<const std::uint32_t> keys, const Threshold& threshold,
                             std::uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(positions_above)(keys, threshold, out);
}

Threshold select_largest(std::span<const std::uint32_t> keys, std::int64_t k,
                         std::span<std::uint32_t> spare, std::uint32_t* out, std::uint32_t guess) {
  const Threshold threshold = find_threshold(keys, k, spare, guess);
  positions_above(keys, threshold, out);
  return threshold;
}

std::int64_t collect_magnitudes(const float* x, std::int64_t count, std::uint32_t first,
                                std::uint32_t lowest, float* values, std::uint32_t* positions) {
  return HWY_DYNAMIC_DISPATCH(collect_magnitudes)(x, count, first, lowest, values, positions);
}

Threshold keep_largest(std::span<float> values, std::uint32_t* positions, std::int64_t k,
                       std::uint32_t highest, std::span<std::uint32_t> keys,
                       std::span<std::uint32_t> spare) {
  const auto n = std::ssize(values);
  std::int64_t inside = HWY_DYNAMIC_DISPATCH(collect_keys)(values.data(), n, highest, keys.data());
  if (n - inside >= k)  // the bracket is too low
    inside = HWY_DYNAMIC_DISPATCH(collect_keys)(values.data(), n, 0xFFFFFFFFu, keys.data());
  const Threshold threshold =
      find_threshold(keys.first(static_cast<std::size_t>(inside)), k - (n - inside), spare);
  HWY_DYNAMIC_DISPATCH(keep_above)(values.data(), positions, n, threshold);
  return threshold;
}

}  // namespace tersor::compressors
#endif  // HWY_ONCE
