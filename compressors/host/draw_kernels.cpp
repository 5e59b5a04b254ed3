// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "compressors/host/kernels.hpp"
#include "compressors/host/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/draw_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

// kBlocks Philox blocks at once, words in the order of the stream. Lane e of the counters holds
// block kLanes/4 * (e mod 4) + e/4, so that a 4x4 transposition inside each 128-bit part leaves
// whole blocks one after the other.
inline constexpr int kBlocks = 32;
#if HWY_TARGET <= HWY_AVX3
struct PhiloxVector {
  using V = __m512i;
  static constexpr int kLanes = 16;
  static V set1(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  static V counters() {
    return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  }
  static V add(V a, V b) { return _mm512_add_epi32(a, b); }
  static V xor3(V a, V b, V c) { return _mm512_ternarylogic_epi32(a, b, c, 0x96); }
  static void multiply(V a, V m, V& high, V& low) {
    const V even = _mm512_mul_epu32(a, m);
    const V odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), m);
    high = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    low = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
  }
  static void store(V a, V b, V c, V d, std::uint32_t* out) {
    const V ab_low = _mm512_unpacklo_epi32(a, b);
    const V ab_high = _mm512_unpackhi_epi32(a, b);
    const V cd_low = _mm512_unpacklo_epi32(c, d);
    const V cd_high = _mm512_unpackhi_epi32(c, d);
    _mm512_storeu_si512(out, _mm512_unpacklo_epi64(ab_low, cd_low));
    _mm512_storeu_si512(out + 16, _mm512_unpackhi_epi64(ab_low, cd_low));
    _mm512_storeu_si512(out + 32, _mm512_unpacklo_epi64(ab_high, cd_high));
    _mm512_storeu_si512(out + 48, _mm512_unpackhi_epi64(ab_high, cd_high));
  }
};
#elif HWY_TARGET <= HWY_AVX2
struct PhiloxVector {
  using V = __m256i;
  static constexpr int kLanes = 8;
  static V set1(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  static V counters() { return _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7); }
  static V add(V a, V b) { return _mm256_add_epi32(a, b); }
  static V xor3(V a, V b, V c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
  static void multiply(V a, V m, V& high, V& low) {
    const V even = _mm256_mul_epu32(a, m);
    const V odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
    low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
  }
  static void store(V a, V b, V c, V d, std::uint32_t* out) {
    const V ab_low = _mm256_unpacklo_epi32(a, b);
    const V ab_high = _mm256_unpackhi_epi32(a, b);
    const V cd_low = _mm256_unpacklo_epi32(c, d);
    const V cd_high = _mm256_unpackhi_epi32(c, d);
    auto* to = reinterpret_cast<__m256i*>(out);
    _mm256_storeu_si256(to, _mm256_unpacklo_epi64(ab_low, cd_low));
    _mm256_storeu_si256(to + 1, _mm256_unpackhi_epi64(ab_low, cd_low));
    _mm256_storeu_si256(to + 2, _mm256_unpacklo_epi64(ab_high, cd_high));
    _mm256_storeu_si256(to + 3, _mm256_unpackhi_epi64(ab_high, cd_high));
  }
};
#endif

#if HWY_TARGET <= HWY_AVX2
inline void philox_blocks(const Stream& stream, std::uint32_t first, std::uint32_t* out) {
  using P = PhiloxVector;
  constexpr int kSets = kBlocks / P::kLanes;  // side by side, since a multiply takes its time
  P::V c0[kSets], c1[kSets], c2[kSets], c3[kSets];
  for (int s = 0; s < kSets; ++s) {
    c0[s] = P::add(P::set1(first + static_cast<std::uint32_t>(s * P::kLanes)), P::counters());
    c1[s] = P::set1(stream.c1);
    c2[s] = P::set1(stream.c2);
    c3[s] = P::set1(stream.c3);
  }
  const P::V m0 = P::set1(0xD2511F53u);
  const P::V m1 = P::set1(0xCD9E8D57u);
  P::V k0 = P::set1(stream.key[0]);
  P::V k1 = P::set1(stream.key[1]);
  for (int round = 0; round < 10; ++round) {
    for (int s = 0; s < kSets; ++s) {
      P::V high0, low0, high1, low1;
      P::multiply(c0[s], m0, high0, low0);
      P::multiply(c2[s], m1, high1, low1);
      c0[s] = P::xor3(high1, c1[s], k0);
      c1[s] = low1;
      c2[s] = P::xor3(high0, c3[s], k1);
      c3[s] = low0;
    }
    k0 = P::add(k0, P::set1(0x9E3779B9u));
    k1 = P::add(k1, P::set1(0xBB67AE85u));
  }
  for (int s = 0; s < kSets; ++s) P::store(c0[s], c1[s], c2[s], c3[s], out + s * 4 * P::kLanes);
}
#else
inline void philox_blocks(const Stream& stream, std::uint32_t first, std::uint32_t* out) {
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    const std::array<std::uint32_t, 4> words = stream.block(first + i);
    for (const std::uint32_t word : words) *out++ = word;
  }
}
#endif

// Words first .. first+count-1 of the stream's 32-bit words (word w is word w mod 4 of block w/4).
void fill_words(const Stream& stream, std::uint64_t first, std::int64_t count,
                std::uint32_t* HWY_RESTRICT out) {
  std::uint32_t words[4 * kBlocks];
  std::uint64_t block = first / 4;
  auto skip = static_cast<std::int64_t>(first % 4);
  while (count > 0) {
    if (skip == 0 && count >= 4 * kBlocks) {
      philox_blocks(stream, static_cast<std::uint32_t>(block), out);
      out += 4 * kBlocks;
      count -= 4 * kBlocks;
    } else {
      philox_blocks(stream, static_cast<std::uint32_t>(block), words);
      const std::int64_t taken = std::min<std::int64_t>(count, 4 * kBlocks - skip);
      std::memcpy(out, words + skip, static_cast<std::size_t>(taken) * 4);
      out += taken;
      count -= taken;
      skip = 0;
    }
    block += kBlocks;
  }
}

void fill_draw32(const Stream& stream, std::uint64_t first, std::int64_t count,
                 std::uint32_t* out) {
  fill_words(stream, first, count, out);
}

void fill_draw16(const Stream& stream, std::uint64_t first, std::int64_t count,
                 std::uint16_t* out) {
  // Two draws a word, low half first: on a little-endian machine the words are the draws.
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t words[4 * kBlocks];
  std::uint64_t block = first / 8;
  auto skip = static_cast<std::int64_t>(first % 8);
  while (count > 0) {
    philox_blocks(stream, static_cast<std::uint32_t>(block), words);
    const std::int64_t taken = std::min<std::int64_t>(count, 8 * kBlocks - skip);
    std::memcpy(out, reinterpret_cast<const std::uint16_t*>(words) + skip,
                static_cast<std::size_t>(taken) * 2);
    out += taken;
    count -= taken;
    skip = 0;
    block += kBlocks;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

HWY_EXPORT(fill_draw16);
HWY_EXPORT(fill_draw32);

void fill_draw16(const Stream& stream, std::uint64_t first, std::int64_t count,
                 std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(fill_draw16)(stream, first, count, out);
}
void fill_draw32(const Stream& stream, std::uint64_t first, std::int64_t count,
                 std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(fill_draw32)(stream, first, count, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
