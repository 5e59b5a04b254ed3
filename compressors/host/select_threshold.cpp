// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "compressors/host/select.hpp"
#include "compressors/host/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/select_threshold.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors {
namespace HWY_NAMESPACE {

constexpr std::int64_t kFewKeys = 32;

// The threshold of a handful of keys: each is compared with all until the right one comes. Elements
// behind the last key are 0.
Threshold threshold_of_few(const std::array<std::uint32_t, kFewKeys + kPositionSlack>& keys,
                           std::int64_t count, std::int64_t k) {
  for (std::int64_t j = 0; j < count; ++j) {
    const std::uint32_t key = keys[static_cast<std::size_t>(j)];
    std::uint32_t above = 0;
    std::uint32_t at_least = 0;
    for (std::size_t i = 0; i < kFewKeys; ++i) {
      above += keys[i] > key ? 1u : 0u;
      at_least += keys[i] >= key ? 1u : 0u;
    }
    if (key == 0) at_least = static_cast<std::uint32_t>(count);
    if (above < k && k <= at_least) return {key, k - above, std::int64_t{at_least} - above};
  }
  return {};
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

std::int64_t count_at_least(const std::uint32_t* keys, std::int64_t n, std::uint32_t limit) {
  std::int64_t count = 0;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i wanted = _mm512_set1_epi32(static_cast<int>(limit));
  const __m512i one = _mm512_set1_epi32(1);
  __m512i a = _mm512_setzero_si512();
  __m512i b = a;
  const auto count16 = [&](__m512i so_far, const std::uint32_t* from) {
    const __mmask16 taken = _mm512_cmpge_epu32_mask(_mm512_loadu_si512(from), wanted);
    return _mm512_mask_add_epi32(so_far, taken, so_far, one);
  };
  for (; i + 32 <= n; i += 32) {
    a = count16(a, keys + i);
    b = count16(b, keys + i + 16);
  }
  count = _mm512_reduce_add_epi32(_mm512_add_epi32(a, b));
#elif HWY_TARGET <= HWY_AVX2
  const __m256i wanted = _mm256_set1_epi32(static_cast<int>(limit));
  __m256i sum = _mm256_setzero_si256();
  for (; i + 8 <= n; i += 8) {
    const __m256i key = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + i));
    sum = _mm256_sub_epi32(sum, _mm256_cmpeq_epi32(_mm256_max_epu32(key, wanted), key));
  }
  alignas(32) std::array<std::int32_t, 8> lanes;
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.data()), sum);
  for (const std::int32_t lane : lanes) count += lane;
#endif
  for (; i < n; ++i) count += keys[i] >= limit ? 1 : 0;
  return count;
}

// Keys in [low, high), in order; `out` has room for them and kPositionSlack.
std::int64_t collect_between(const std::uint32_t* keys, std::int64_t n, std::uint64_t low,
                             std::uint64_t high, std::uint32_t* out) {
  std::int64_t found = 0;
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i from = _mm512_set1_epi32(static_cast<int>(low));
  const __m512i to = _mm512_set1_epi32(static_cast<int>(high - 1));
  for (; i + 16 <= n; i += 16) {
    const __m512i key = _mm512_loadu_si512(keys + i);
    const __mmask16 taken =
        _mm512_mask_cmple_epu32_mask(_mm512_cmpge_epu32_mask(key, from), key, to);
    _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(taken, key));
    found += std::popcount(static_cast<std::uint32_t>(taken));
  }
#elif HWY_TARGET <= HWY_AVX2
  const __m256i from = _mm256_set1_epi32(static_cast<int>(low));
  const __m256i to = _mm256_set1_epi32(static_cast<int>(high - 1));
  for (; i + 8 <= n; i += 8) {
    const __m256i key = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + i));
    const __m256i clamped = _mm256_min_epu32(_mm256_max_epu32(key, from), to);
    auto taken = static_cast<std::uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(clamped, key))));
    for (; taken != 0; taken &= taken - 1) out[found++] = keys[i + std::countr_zero(taken)];
  }
#endif
  for (; i < n; ++i) {
    if (keys[i] >= low && keys[i] < high) out[found++] = keys[i];
  }
  return found;
}

// Narrows [low, high) around the k-th largest key by counting keys, until a handful is left.
// Counts of a short list cost less than the tables of a radix selection.
Threshold counted_threshold(const std::uint32_t* keys, std::int64_t n, std::int64_t k,
                            std::uint32_t guess) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;
  std::uint64_t low = 0;
  std::uint64_t high = kEnd;
  std::int64_t at_least_low = n;   // >= k
  std::int64_t at_least_high = 0;  // < k
  std::uint64_t probe = guess;
  std::uint64_t step = std::uint64_t{1} << 20;  // an eighth of a binade
  for (int round = 0;; ++round) {
    const std::int64_t between = at_least_low - at_least_high;
    if (high - low == 1) return {static_cast<std::uint32_t>(low), k - at_least_high, between};
    if (between <= kFewKeys) {
      std::array<std::uint32_t, kFewKeys + kPositionSlack> few{};
      const std::int64_t found = collect_between(keys, n, low, high, few.data());
      std::fill(few.begin() + found, few.end(), 0u);
      return threshold_of_few(few, found, k - at_least_high);
    }
    probe = std::clamp(probe, low + 1, high - 1);
    const std::int64_t count = count_at_least(keys, n, static_cast<std::uint32_t>(probe));
    if (count >= k) {
      low = probe;
      at_least_low = count;
    } else {
      high = probe;
      at_least_high = count;
    }
    if (high == kEnd || low == 0) {
      probe = high == kEnd ? low + step : (high > step ? high - step : 0);
      step *= 4;
    } else if (round % 3 == 2) {
      probe = low + (high - low) / 2;
    } else {
      const double share = (static_cast<double>(at_least_low - k) + 0.5) /
                           static_cast<double>(at_least_low - at_least_high);
      probe = low + static_cast<std::uint64_t>(static_cast<double>(high - low) * share);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors {
namespace {

HWY_EXPORT(collect_prefix);
HWY_EXPORT(counted_threshold);

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

template <int kWidth>
Threshold radix_threshold(std::span<const std::uint32_t> keys, std::int64_t k,
                          std::span<std::uint32_t> spare) {
  std::uint32_t prefix = 0;
  std::int64_t count = 0;
  for (int shift = 32 - kWidth;; shift -= kWidth) {
    if (std::ssize(keys) <= kCountedKeys)
      return HWY_DYNAMIC_DISPATCH(counted_threshold)(keys.data(), std::ssize(keys), k,
                                                     keys.empty() ? 1 : keys[keys.size() / 2]);
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
                         std::span<std::uint32_t> spare, std::uint32_t guess) {
  if (std::ssize(keys) > kCountedKeys) return radix_threshold<11>(keys, k, spare);
  if (guess == 0) guess = keys[keys.size() / 2];
  return HWY_DYNAMIC_DISPATCH(counted_threshold)(keys.data(), std::ssize(keys), k, guess);
}

}  // namespace tersor::compressors
#endif  // HWY_ONCE
