// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "compressors/api/floats.hpp"
#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/api/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Finite magnitudes stay, others become 0.
inline std::uint32_t finite_magnitude(float x) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu;
  return magnitude < kInfinityBits ? magnitude : 0u;
}

float max_magnitude(const float* x, std::int64_t count, float start) {
  std::int64_t i = 0;
  std::uint32_t largest = bits_of(start);
#if HWY_TARGET <= HWY_AVX2
  // First without a look at what is finite; the order of magnitudes puts Inf and NaN on top.
  const hn::ScalableTag<std::int32_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto mask = hn::Set(d, 0x7FFFFFFF);
  auto a = hn::Set(d, static_cast<std::int32_t>(largest));
  auto b = a;
  const auto* bits = reinterpret_cast<const std::int32_t*>(x);
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Max(a, hn::And(hn::LoadU(d, bits + i), mask));
    b = hn::Max(b, hn::And(hn::LoadU(d, bits + i + lanes), mask));
  }
  const auto found = static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b))));
  if (found < kInfinityBits)
    largest = found;
  else
    i = 0;
#endif
  for (; i < count; ++i) {
    const std::uint32_t magnitude = finite_magnitude(x[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return float_of(largest);
}

void max_magnitude_each(const float* HWY_RESTRICT x, std::int64_t count,
                        float* HWY_RESTRICT largest) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = finite_magnitude(x[i]);
    const std::uint32_t so_far = bits_of(largest[i]);
    largest[i] = float_of(magnitude > so_far ? magnitude : so_far);
  }
}

// Floats as integers in the same order: negative ones have all their other bits flipped.
inline std::int32_t ordered(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7FFFFFFF);
}
inline float from_ordered(std::int32_t key) {
  return std::bit_cast<float>(key ^ ((key >> 31) & 0x7FFFFFFF));
}

void min_max(const float* x, std::int64_t count, float& low, float& high) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  // Adding 0 makes -0 +0; a NaN as first operand gives the second one; an infinity is seen at the
  // end.
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  auto low_a = hn::Set(d, kFloat32Max);
  auto low_b = low_a;
  auto high_a = hn::Neg(low_a);
  auto high_b = high_a;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto a = hn::Add(hn::LoadU(d, x + i), zero);
    const auto b = hn::Add(hn::LoadU(d, x + i + lanes), zero);
    low_a = hn::Min(a, low_a);
    low_b = hn::Min(b, low_b);
    high_a = hn::Max(a, high_a);
    high_b = hn::Max(b, high_b);
  }
  const float found_low = hn::GetLane(hn::MinOfLanes(d, hn::Min(low_a, low_b)));
  const float found_high = hn::GetLane(hn::MaxOfLanes(d, hn::Max(high_a, high_b)));
  if (found_low < -kFloat32Max || found_high > kFloat32Max || found_low > found_high) {
    i = 0;
  } else {
    low = found_low < low ? found_low : low;
    high = found_high > high ? found_high : high;
  }
#endif
  std::int32_t smallest = ordered(low);
  std::int32_t largest = ordered(high);
  for (; i < count; ++i) {
    const bool is_finite = (std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFu) < kInfinityBits;
    const std::int32_t key = ordered(x[i] + 0.0f);
    const std::int32_t for_min = is_finite ? key : 0x7F800000;
    const std::int32_t for_max = is_finite ? key : -0x7F800001;
    smallest = for_min < smallest ? for_min : smallest;
    largest = for_max > largest ? for_max : largest;
  }
  low = from_ordered(smallest);
  high = from_ordered(largest);
}

void min_max_each(const float* HWY_RESTRICT x, std::int64_t count, float* HWY_RESTRICT low,
                  float* HWY_RESTRICT high) {
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_finite = (std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFu) < kInfinityBits;
    const float value = x[i] + 0.0f;
    const float for_min = is_finite ? value : low[i];
    const float for_max = is_finite ? value : high[i];
    low[i] = for_min < low[i] ? for_min : low[i];
    high[i] = for_max > high[i] ? for_max : high[i];
  }
}

template <bool kSquares>
inline float term(float x) {
  const float magnitude = std::bit_cast<float>(finite_magnitude(x));
  return kSquares ? magnitude * magnitude : magnitude;
}

template <bool kSquares>
float block_sum_of(const float* HWY_RESTRICT x, std::int64_t count) {
  float lanes[32] = {};
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const hn::ScalableTag<float> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  constexpr std::size_t kVectors = 32 / kLanes;
  const auto infinity = hn::Set(d, float_of(kInfinityBits));
  hn::Vec<hn::ScalableTag<float>> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (; i + 32 <= count; i += 32) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      auto magnitude = hn::Abs(hn::LoadU(d, x + i + v * kLanes));
      magnitude = hn::IfThenElseZero(hn::Lt(magnitude, infinity), magnitude);
      sums[v] = hn::Add(sums[v], kSquares ? hn::Mul(magnitude, magnitude) : magnitude);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, lanes + v * kLanes);
#else
  for (; i + 32 <= count; i += 32) {
    for (int lane = 0; lane < 32; ++lane) lanes[lane] += term<kSquares>(x[i + lane]);
  }
#endif
  for (int lane = 0; i + lane < count; ++lane) lanes[lane] += term<kSquares>(x[i + lane]);
  for (int half = 16; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

float block_sum(const float* x, std::int64_t count, bool squares) {
  return squares ? block_sum_of<true>(x, count) : block_sum_of<false>(x, count);
}

void lane_sum_each(const float* HWY_RESTRICT x, std::int64_t count, bool squares,
                   float* HWY_RESTRICT lanes) {
  if (squares) {
    for (std::int64_t i = 0; i < count; ++i) lanes[i] += term<true>(x[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) lanes[i] += term<false>(x[i]);
  }
}

// Eight codes in the bytes of `bytes` to 8*width bits, and back.
inline std::uint64_t gather_fields(std::uint64_t bytes, int width) {
#if HWY_TARGET <= HWY_AVX2
  return _pext_u64(bytes, 0x0101010101010101u * ((1u << width) - 1));
#else
  std::uint64_t fields = 0;
  for (int i = 0; i < 8; ++i) fields |= ((bytes >> (8 * i)) & 0xFFu) << (i * width);
  return fields;
#endif
}
inline std::uint64_t scatter_fields(std::uint64_t fields, int width) {
#if HWY_TARGET <= HWY_AVX2
  return _pdep_u64(fields, 0x0101010101010101u * ((1u << width) - 1));
#else
  const std::uint64_t mask = (1u << width) - 1;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 8; ++i) bytes |= ((fields >> (i * width)) & mask) << (8 * i);
  return bytes;
#endif
}

#if HWY_TARGET <= HWY_AVX3
// Fields of 1, 2 and 4 bits of 64 codes at once; return how many codes were done.
std::int64_t pack_powers(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, int width,
                         std::byte* HWY_RESTRICT out) {
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64, out += 8 * width) {
    const __m512i v = _mm512_loadu_si512(codes + i);
    if (width == 4) {  // pairs: a + 16 b
      const __m512i pairs = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x1001));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi16_epi8(pairs));
    } else if (width == 2) {  // a + 4 b, then pairs of those: + 16
      const __m512i pairs = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x0401));
      const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00100001));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(fours));
    } else {
      const std::uint64_t bits = _mm512_test_epi8_mask(v, _mm512_set1_epi8(1));
      std::memcpy(out, &bits, 8);
    }
  }
  return i;
}

std::int64_t unpack_powers(const std::byte* HWY_RESTRICT in, std::int64_t count, int width,
                           std::uint8_t* HWY_RESTRICT codes) {
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64, in += 8 * width) {
    __m512i v;
    if (width == 4) {
      v = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
      v = _mm512_and_si512(_mm512_or_si512(v, _mm512_slli_epi16(v, 4)), _mm512_set1_epi8(15));
    } else if (width == 2) {
      v = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
      v = _mm512_or_si512(v, _mm512_slli_epi32(v, 12));
      v = _mm512_or_si512(v, _mm512_slli_epi32(v, 6));
      v = _mm512_and_si512(v, _mm512_set1_epi8(3));
    } else {
      std::uint64_t bits;
      std::memcpy(&bits, in, 8);
      v = _mm512_maskz_set1_epi8(bits, 1);
    }
    _mm512_storeu_si512(codes + i, v);
  }
  return i;
}
#elif HWY_TARGET <= HWY_AVX2
std::int64_t pack_powers(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, int width,
                         std::byte* HWY_RESTRICT out) {
  std::int64_t i = 0;
  for (; i + 32 <= count; i += 32, out += 4 * width) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i));
    if (width == 1) {
      const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(v, 7)));
      std::memcpy(out, &bits, 4);
      continue;
    }
    const int factor = width == 4 ? 0x1001 : 0x0401;
    __m256i pairs = _mm256_maddubs_epi16(v, _mm256_set1_epi16(static_cast<short>(factor)));
    if (width == 2) pairs = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00100001));
    // The low byte of every 16-bit (32-bit) field, to the front of each half.
    const __m256i take =
        width == 4 ? _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1, 0,
                                      2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1)
                   : _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                      0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(pairs, take);
    const __m128i low = _mm256_castsi256_si128(bytes);
    const __m128i high = _mm256_extracti128_si256(bytes, 1);
    if (width == 4)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi64(low, high));
    else
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi32(low, high));
  }
  return i;
}

std::int64_t unpack_powers(const std::byte* HWY_RESTRICT in, std::int64_t count, int width,
                           std::uint8_t* HWY_RESTRICT codes) {
  std::int64_t i = 0;
  for (; i + 32 <= count; i += 32, in += 4 * width) {
    __m256i v;
    if (width == 4) {
      v = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
      v = _mm256_and_si256(_mm256_or_si256(v, _mm256_slli_epi16(v, 4)), _mm256_set1_epi8(15));
    } else if (width == 2) {
      v = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in)));
      v = _mm256_or_si256(v, _mm256_slli_epi32(v, 12));
      v = _mm256_or_si256(v, _mm256_slli_epi32(v, 6));
      v = _mm256_and_si256(v, _mm256_set1_epi8(3));
    } else {
      std::uint32_t bits;
      std::memcpy(&bits, in, 4);
      // Byte i of the vector gets byte i/8 of the bits, and looks at its bit i mod 8.
      const __m256i spread = _mm256_shuffle_epi8(
          _mm256_set1_epi32(static_cast<int>(bits)),
          _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
      const __m256i own = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
      v = _mm256_cmpeq_epi8(_mm256_and_si256(spread, own), own);
      v = _mm256_and_si256(v, _mm256_set1_epi8(1));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + i), v);
  }
  return i;
}
#endif

void pack_bits(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, int width,
               std::byte* HWY_RESTRICT out) {
  if (width == 8) {
    std::memcpy(out, codes, static_cast<std::size_t>(count));
    return;
  }
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if (std::has_single_bit(static_cast<unsigned>(width))) {
    i = pack_powers(codes, count, width, out);
    out += i / 8 * width;
  }
#endif
  // A store of 8 bytes may run past this field group, not past the end of the stream.
  for (; i + 64 <= count; i += 8, out += width) {
    std::uint64_t bytes;
    std::memcpy(&bytes, codes + i, 8);
    const std::uint64_t fields = gather_fields(bytes, width);
    std::memcpy(out, &fields, 8);
  }
  for (; i < count; i += 8, out += width) {
    const std::int64_t left = std::min<std::int64_t>(8, count - i);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, codes + i, static_cast<std::size_t>(left));
    const std::uint64_t fields = gather_fields(bytes, width);
    std::memcpy(out, &fields, static_cast<std::size_t>((left * width + 7) / 8));
  }
}

void unpack_bits(const std::byte* HWY_RESTRICT in, std::int64_t count, int width,
                 std::uint8_t* HWY_RESTRICT codes) {
  if (width == 8) {
    std::memcpy(codes, in, static_cast<std::size_t>(count));
    return;
  }
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if (std::has_single_bit(static_cast<unsigned>(width))) {
    i = unpack_powers(in, count, width, codes);
    in += i / 8 * width;
  }
#endif
  for (; i + 64 <= count; i += 8, in += width) {
    std::uint64_t fields;
    std::memcpy(&fields, in, 8);
    const std::uint64_t bytes = scatter_fields(fields, width);
    std::memcpy(codes + i, &bytes, 8);
  }
  for (; i < count; i += 8, in += width) {
    const std::int64_t left = std::min<std::int64_t>(8, count - i);
    std::uint64_t fields = 0;
    std::memcpy(&fields, in, static_cast<std::size_t>((left * width + 7) / 8));
    const std::uint64_t bytes = scatter_fields(fields, width);
    std::memcpy(codes + i, &bytes, static_cast<std::size_t>(left));
  }
}

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

void widen_float16(const std::uint16_t* HWY_RESTRICT in, std::int64_t count,
                   float* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
#endif
  for (; i < count; ++i) out[i] = float16_to_float32(in[i]);
}

void widen_bfloat16(const std::uint16_t* HWY_RESTRICT in, std::int64_t count,
                    float* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = bfloat16_to_float32(in[i]);
}

void round_float16(const float* HWY_RESTRICT in, std::int64_t count,
                   std::uint16_t* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  // The instruction rounds finite values to infinity and keeps the payload of a NaN: both are
  // mended, in a vector that has one.
  const __m256 largest = _mm256_set1_ps(kFloat16Max);
  const __m256 magnitude_mask = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_loadu_ps(in + i);
    // True for a NaN too.
    const __m256 is_odd = _mm256_cmp_ps(_mm256_and_ps(x, magnitude_mask), largest, _CMP_NLE_UQ);
    if (_mm256_movemask_ps(is_odd) != 0) {
      for (int j = 0; j < 8; ++j) out[i + j] = round_to_float16(in[i + j]);
      continue;
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
#endif
  for (; i < count; ++i) out[i] = round_to_float16(in[i]);
}

void round_bfloat16(const float* HWY_RESTRICT in, std::int64_t count,
                    std::uint16_t* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = round_to_bfloat16(in[i]);
}

void magnitude_keys(const float* HWY_RESTRICT x, std::int64_t count,
                    std::uint32_t* HWY_RESTRICT keys) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFu;
    keys[i] = magnitude > kInfinityBits ? 0x7FC00000u : magnitude;
  }
}

void add(const float* HWY_RESTRICT x, std::int64_t count, float* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] += x[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

HWY_EXPORT(max_magnitude);
HWY_EXPORT(max_magnitude_each);
HWY_EXPORT(min_max);
HWY_EXPORT(min_max_each);
HWY_EXPORT(block_sum);
HWY_EXPORT(lane_sum_each);
HWY_EXPORT(pack_bits);
HWY_EXPORT(unpack_bits);
HWY_EXPORT(fill_draw16);
HWY_EXPORT(fill_draw32);
HWY_EXPORT(widen_float16);
HWY_EXPORT(widen_bfloat16);
HWY_EXPORT(round_float16);
HWY_EXPORT(round_bfloat16);
HWY_EXPORT(magnitude_keys);
HWY_EXPORT(add);

float max_magnitude(const float* x, std::int64_t count, float start) {
  return HWY_DYNAMIC_DISPATCH(max_magnitude)(x, count, start);
}
void max_magnitude_each(const float* x, std::int64_t count, float* largest) {
  HWY_DYNAMIC_DISPATCH(max_magnitude_each)(x, count, largest);
}
void min_max(const float* x, std::int64_t count, float& low, float& high) {
  HWY_DYNAMIC_DISPATCH(min_max)(x, count, low, high);
}
void min_max_each(const float* x, std::int64_t count, float* low, float* high) {
  HWY_DYNAMIC_DISPATCH(min_max_each)(x, count, low, high);
}
float block_sum(const float* x, std::int64_t count, bool squares) {
  return HWY_DYNAMIC_DISPATCH(block_sum)(x, count, squares);
}
void lane_sum_each(const float* x, std::int64_t count, bool squares, float* lanes) {
  HWY_DYNAMIC_DISPATCH(lane_sum_each)(x, count, squares, lanes);
}
void pack_bits(const std::uint8_t* codes, std::int64_t count, int width, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(pack_bits)(codes, count, width, out);
}
void unpack_bits(const std::byte* in, std::int64_t count, int width, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_bits)(in, count, width, codes);
}
void fill_draw16(const Stream& stream, std::uint64_t first, std::int64_t count,
                 std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(fill_draw16)(stream, first, count, out);
}
void fill_draw32(const Stream& stream, std::uint64_t first, std::int64_t count,
                 std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(fill_draw32)(stream, first, count, out);
}
void widen_float16(const std::uint16_t* in, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_float16)(in, count, out);
}
void widen_bfloat16(const std::uint16_t* in, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_bfloat16)(in, count, out);
}
void round_float16(const float* in, std::int64_t count, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(round_float16)(in, count, out);
}
void round_bfloat16(const float* in, std::int64_t count, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(round_bfloat16)(in, count, out);
}
void magnitude_keys(const float* x, std::int64_t count, std::uint32_t* keys) {
  HWY_DYNAMIC_DISPATCH(magnitude_keys)(x, count, keys);
}
void add(const float* x, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(add)(x, count, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
