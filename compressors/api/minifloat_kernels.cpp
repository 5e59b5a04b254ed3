// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/minifloat_kernels.hpp"

#include "compressors/api/minifloat.hpp"
#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/api/minifloat_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
// MiniFloat::encode of 16 quotients of the values `x`, whose sign and NaN they share; an infinite
// value may have any quotient that is not finite.
template <class Format>
inline __m512i encode16(__m512 quotient, __m512 x) {
  constexpr int kWidth = Format::kWidth;
  const auto set = [](std::uint32_t bits) { return _mm512_set1_epi32(static_cast<int>(bits)); };
  const __m512i magnitude = _mm512_and_epi32(_mm512_castps_si512(quotient), set(0x7FFFFFFFu));
  const __m512i limited = _mm512_min_epu32(magnitude, set(Format::kLargestBits));
  const __m512i odd = _mm512_and_epi32(_mm512_srli_epi32(limited, Format::kShift), set(1));
  const __m512i half = set((1u << (Format::kShift - 1)) - 1 - Format::kRebias);
  const __m512i normal =
      _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(limited, half), odd), Format::kShift);
  const __m512i magic = set(Format::kMagicBits);
  const __m512 sum = _mm512_add_ps(_mm512_castsi512_ps(limited), _mm512_castsi512_ps(magic));
  const __mmask16 is_small = _mm512_cmplt_epi32_mask(limited, set(Format::kSmallestNormalBits));
  const __m512i code = _mm512_mask_sub_epi32(normal, is_small, _mm512_castps_si512(sum), magic);
  const __m512i sign = _mm512_srli_epi32(_mm512_castps_si512(x), 32 - kWidth);
  const __mmask16 is_number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
  // code | (sign & its bit)
  return _mm512_maskz_ternarylogic_epi32(is_number, code, sign, set(1u << (kWidth - 1)), 0xF8);
}

template <>
inline __m512i encode16<MxInt8>(__m512 quotient, __m512 x) {
  const __mmask16 is_number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
  __m512 v = _mm512_maskz_mul_ps(is_number, quotient, _mm512_set1_ps(64.0f));
  v = _mm512_max_ps(v, _mm512_set1_ps(-127.0f));
  v = _mm512_min_ps(v, _mm512_set1_ps(127.0f));
  // 1.5 * 2^23: the integer stands in the low byte, which is all that is kept
  return _mm512_castps_si512(_mm512_add_ps(v, _mm512_set1_ps(12582912.0f)));
}

inline void store_codes(__m512i codes, std::uint8_t* out) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(codes));
}

// Lane b: the largest magnitude bits of vectors kVectors b .. of 16. Two vectors at a time become
// one that holds maxima of both, four times.
template <int kVectors>
inline __m512i block_maxima(const float* x) {
  __m512i v[16];
  for (int b = 0; b < 16; ++b) {
    const auto magnitude = [&](int i) {
      return _mm512_and_epi32(_mm512_loadu_si512(x + 16 * (kVectors * b + i)),
                              _mm512_set1_epi32(0x7FFFFFFF));
    };
    v[b] = magnitude(0);
    for (int i = 1; i < kVectors; ++i) v[b] = _mm512_max_epu32(v[b], magnitude(i));
  }
  for (int i = 0; i < 8; ++i)
    v[i] = _mm512_max_epu32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]),
                            _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
  for (int i = 0; i < 4; ++i)
    v[i] = _mm512_max_epu32(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
                            _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
  for (int i = 0; i < 2; ++i)
    v[i] = _mm512_max_epu32(_mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0x88),
                            _mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0xDD));
  return _mm512_max_epu32(_mm512_shuffle_i32x4(v[0], v[1], 0x88),
                          _mm512_shuffle_i32x4(v[0], v[1], 0xDD));
}
#endif

// Largest finite magnitude of a block; first without a look at what is finite.
template <int kCount>
float max_finite(const float* HWY_RESTRICT x) {
  const hn::CappedTag<std::int32_t, kCount> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::CappedTag<std::int32_t, kCount>()));
  const auto* bits = reinterpret_cast<const std::int32_t*>(x);
  const auto mask = hn::Set(d, 0x7FFFFFFF);
  auto most = hn::And(hn::LoadU(d, bits), mask);
  for (int i = kLanes; i < kCount; i += kLanes)
    most = hn::Max(most, hn::And(hn::LoadU(d, bits + i), mask));
  const std::int32_t found = hn::GetLane(hn::MaxOfLanes(d, most));
  if (found < 0x7F800000) return std::bit_cast<float>(found);
  std::uint32_t largest = 0;
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t magnitude = magnitude_bits(finite_or_zero(x[i]));
    largest = magnitude > largest ? magnitude : largest;
  }
  return float_of(largest);
}

template <class Format, bool kPerElement>
void encode_loop(const float* HWY_RESTRICT x, std::int64_t count, const float* HWY_RESTRICT scale,
                 std::uint8_t* HWY_RESTRICT codes) {
  const float shared = scale[0];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512 zero = _mm512_setzero_ps();
  for (; i + 16 <= count; i += 16) {
    const __m512 v = _mm512_loadu_ps(x + i);
    const __m512 s = kPerElement ? _mm512_loadu_ps(scale + i) : _mm512_set1_ps(shared);
    const __m512i code = encode16<Format>(_mm512_div_ps(v, s), v);
    store_codes(_mm512_maskz_mov_epi32(_mm512_cmp_ps_mask(s, zero, _CMP_NEQ_UQ), code), codes + i);
  }
#endif
  for (; i < count; ++i) {
    const float s = kPerElement ? scale[i] : shared;
    const std::uint32_t code = Format::encode(x[i] / s);
    codes[i] = static_cast<std::uint8_t>(s == 0.0f ? 0u : code);
  }
}

template <class Format, bool kPerElement, bool kAdd>
void decode_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count,
                 const float* HWY_RESTRICT scale, float* HWY_RESTRICT out) {
  const float shared = scale[0];
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = Format::decode(codes[i]) * (kPerElement ? scale[i] : shared);
    out[i] = kAdd ? out[i] + value : value;
  }
}

template <class Format>
void encode_format(const float* x, std::int64_t count, const float* scale, bool is_per_element,
                   std::uint8_t* codes) {
  if (is_per_element)
    encode_loop<Format, true>(x, count, scale, codes);
  else
    encode_loop<Format, false>(x, count, scale, codes);
}

template <class Format>
void decode_format(const std::uint8_t* codes, std::int64_t count, const float* scale,
                   bool is_per_element, bool is_accumulated, float* out) {
  if (is_per_element && is_accumulated)
    decode_loop<Format, true, true>(codes, count, scale, out);
  else if (is_per_element)
    decode_loop<Format, true, false>(codes, count, scale, out);
  else if (is_accumulated)
    decode_loop<Format, false, true>(codes, count, scale, out);
  else
    decode_loop<Format, false, false>(codes, count, scale, out);
}

template <class Visit>
void with_format(SmallFloat format, Visit&& visit) {
  switch (format) {
    case SmallFloat::kE4M3: return visit(E4M3());
    case SmallFloat::kE5M2: return visit(E5M2());
    case SmallFloat::kE2M3: return visit(E2M3());
    case SmallFloat::kE3M2: return visit(E3M2());
    case SmallFloat::kE2M1: return visit(E2M1());
    case SmallFloat::kInt8: return visit(MxInt8());
  }
}

void encode_small(SmallFloat format, const float* x, std::int64_t count, const float* scale,
                  bool is_per_element, std::uint8_t* codes) {
  with_format(format,
              [&](auto f) { encode_format<decltype(f)>(x, count, scale, is_per_element, codes); });
}

void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool each, bool add, float* out) {
  with_format(format,
              [&](auto f) { decode_format<decltype(f)>(codes, count, scale, each, add, out); });
}

// A block of MX: the stored exponent of its scale, and its codes.
template <class Format>
std::uint8_t encode_mx_block(const float* HWY_RESTRICT x, std::uint32_t absmax_bits, int emax,
                             std::uint8_t* HWY_RESTRICT codes) {
  const std::uint8_t stored = mx_exponent(absmax_bits, emax);
  // 2^-e: the scale is a power of two, so this product and the quotient are the same number.
  const float inverse = float_of(stored == 254 ? 0x00400000u : (254u - stored) << 23);
  for (int i = 0; i < kMxBlock; ++i)
    codes[i] = static_cast<std::uint8_t>(Format::encode(x[i] * inverse));
  return stored;
}

#if HWY_TARGET <= HWY_AVX3
// mx_exponent of 16 finite maxima. A subnormal has exponent field 0, which the limit of e takes to
// 0 as it does the true exponent, since emax is not negative.
inline __m512i mx_exponents(__m512i absmax, int emax) {
  const __m512i e = _mm512_sub_epi32(_mm512_srli_epi32(absmax, 23), _mm512_set1_epi32(emax));
  return _mm512_min_epi32(_mm512_max_epi32(e, _mm512_setzero_si512()), _mm512_set1_epi32(254));
}
#endif

template <class Format>
void encode_mx_format(const float* HWY_RESTRICT x, std::int64_t blocks, int emax,
                      std::uint8_t* HWY_RESTRICT exponents, std::uint8_t* HWY_RESTRICT codes) {
  const auto one = [&](std::int64_t at) {
    const float* block = x + at * kMxBlock;
    exponents[at] = encode_mx_block<Format>(block, bits_of(max_finite<kMxBlock>(block)), emax,
                                            codes + at * kMxBlock);
  };
  std::int64_t b = 0;
#if HWY_TARGET <= HWY_AVX3
  for (; b + 16 <= blocks; b += 16) {
    const float* group = x + b * kMxBlock;
    const __m512i absmax = block_maxima<2>(group);
    if (_mm512_cmpge_epi32_mask(absmax, _mm512_set1_epi32(0x7F800000)) != 0) {
      for (int i = 0; i < 16; ++i) one(b + i);
      continue;
    }
    const __m512i stored = mx_exponents(absmax, emax);
    store_codes(stored, exponents + b);
    // 2^-e: the scale is a power of two, so this product and the quotient are the same number.
    const __m512i field = _mm512_slli_epi32(_mm512_sub_epi32(_mm512_set1_epi32(254), stored), 23);
    const __mmask16 is_last = _mm512_cmpeq_epi32_mask(stored, _mm512_set1_epi32(254));
    alignas(64) float inverse[16];
    _mm512_store_si512(inverse, _mm512_mask_set1_epi32(field, is_last, 0x00400000));
    for (int i = 0; i < 32; ++i) {
      const __m512 v = _mm512_loadu_ps(group + 16 * i);
      store_codes(encode16<Format>(_mm512_mul_ps(v, _mm512_set1_ps(inverse[i / 2])), v),
                  codes + b * kMxBlock + 16 * i);
    }
  }
#endif
  for (; b < blocks; ++b) one(b);
}

void encode_mx(SmallFloat format, const float* x, std::int64_t blocks, int emax,
               std::uint8_t* exponents, std::uint8_t* codes) {
  with_format(format,
              [&](auto f) { encode_mx_format<decltype(f)>(x, blocks, emax, exponents, codes); });
}

#if HWY_TARGET <= HWY_AVX3
// E4M3::decode of 16 codes without a sign.
inline __m512 decode_e4m3(__m512i code) {
  const __m512i normal =
      _mm512_add_epi32(_mm512_slli_epi32(code, 20), _mm512_set1_epi32(120 << 23));
  const __m512 subnormal = _mm512_mul_ps(_mm512_cvtepi32_ps(code), _mm512_set1_ps(0x1p-9f));
  return _mm512_mask_mov_ps(_mm512_castsi512_ps(normal),
                            _mm512_cmplt_epi32_mask(code, _mm512_set1_epi32(8)), subnormal);
}
#endif

void encode_nvfp4(const float* HWY_RESTRICT x, std::int64_t blocks, float t,
                  std::uint8_t* HWY_RESTRICT scale_codes, std::uint8_t* HWY_RESTRICT codes) {
  const auto one = [&](std::int64_t at) {
    const float* block = x + at * kNvFp4Block;
    const std::uint32_t code = E4M3::encode((max_finite<kNvFp4Block>(block) / 6.0f) / t);
    const float scale = E4M3::decode(code) * t;
    scale_codes[at] = static_cast<std::uint8_t>(code);
    encode_loop<E2M1, false>(block, kNvFp4Block, &scale, codes + at * kNvFp4Block);
  };
  std::int64_t b = 0;
#if HWY_TARGET <= HWY_AVX3
  for (; b + 16 <= blocks; b += 16) {
    const float* group = x + b * kNvFp4Block;
    const __m512i absmax = block_maxima<1>(group);
    if (_mm512_cmpge_epi32_mask(absmax, _mm512_set1_epi32(0x7F800000)) != 0) {
      for (int i = 0; i < 16; ++i) one(b + i);
      continue;
    }
    const __m512 sixth = _mm512_div_ps(_mm512_castsi512_ps(absmax), _mm512_set1_ps(6.0f));
    const __m512 share = _mm512_div_ps(sixth, _mm512_set1_ps(t));
    const __m512i scale_code = encode16<E4M3>(share, share);
    store_codes(scale_code, scale_codes + b);
    const __m512 scale = _mm512_mul_ps(decode_e4m3(scale_code), _mm512_set1_ps(t));
    const auto is_scaled =
        static_cast<std::uint32_t>(_mm512_cmp_ps_mask(scale, _mm512_setzero_ps(), _CMP_NEQ_UQ));
    alignas(64) float scales[16];
    _mm512_store_ps(scales, scale);
    for (int i = 0; i < 16; ++i) {
      const __m512 v = _mm512_loadu_ps(group + 16 * i);
      const __m512i code = encode16<E2M1>(_mm512_div_ps(v, _mm512_set1_ps(scales[i])), v);
      const auto kept = static_cast<__mmask16>(0u - ((is_scaled >> i) & 1u));
      store_codes(_mm512_maskz_mov_epi32(kept, code), codes + (b + i) * kNvFp4Block);
    }
  }
#endif
  for (; b < blocks; ++b) one(b);
}

template <class Format, int kBlock, bool kAdd>
void decode_blocks_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t blocks,
                        const float* HWY_RESTRICT scales, float* HWY_RESTRICT out) {
  for (std::int64_t b = 0; b < blocks; ++b, codes += kBlock, out += kBlock) {
    const float scale = scales[b];
    for (int i = 0; i < kBlock; ++i) {
      const float value = Format::decode(codes[i]) * scale;
      out[i] = kAdd ? out[i] + value : value;
    }
  }
}

template <int kBlock>
void decode_blocks_of(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
                      const float* scales, bool is_accumulated, float* out) {
  with_format(format, [&](auto f) {
    if (is_accumulated)
      decode_blocks_loop<decltype(f), kBlock, true>(codes, blocks, scales, out);
    else
      decode_blocks_loop<decltype(f), kBlock, false>(codes, blocks, scales, out);
  });
}

void decode_mx(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
               const float* scales, bool is_accumulated, float* out) {
  decode_blocks_of<kMxBlock>(format, codes, blocks, scales, is_accumulated, out);
}

void decode_nvfp4(const std::uint8_t* codes, std::int64_t blocks, const float* scales,
                  bool is_accumulated, float* out) {
  decode_blocks_of<kNvFp4Block>(SmallFloat::kE2M1, codes, blocks, scales, is_accumulated, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

int width_of(SmallFloat format) {
  switch (format) {
    case SmallFloat::kE4M3:
    case SmallFloat::kE5M2:
    case SmallFloat::kInt8: return 8;
    case SmallFloat::kE2M3:
    case SmallFloat::kE3M2: return 6;
    case SmallFloat::kE2M1: return 4;
  }
  return 0;
}

float largest_of(SmallFloat format) {
  switch (format) {
    case SmallFloat::kE4M3: return float_of(E4M3::kLargestBits);
    case SmallFloat::kE5M2: return float_of(E5M2::kLargestBits);
    case SmallFloat::kE2M3: return float_of(E2M3::kLargestBits);
    case SmallFloat::kE3M2: return float_of(E3M2::kLargestBits);
    case SmallFloat::kE2M1: return float_of(E2M1::kLargestBits);
    case SmallFloat::kInt8: return 127.0f / 64.0f;
  }
  return 0;
}

HWY_EXPORT(encode_small);
HWY_EXPORT(decode_small);
HWY_EXPORT(encode_mx);
HWY_EXPORT(decode_mx);
HWY_EXPORT(encode_nvfp4);
HWY_EXPORT(decode_nvfp4);

void encode_small(SmallFloat format, const float* x, std::int64_t count, const float* scale,
                  bool is_per_element, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_small)(format, x, count, scale, is_per_element, codes);
}
void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool is_per_element, bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_small)
  (format, codes, count, scale, is_per_element, is_accumulated, out);
}
void encode_mx(SmallFloat format, const float* x, std::int64_t blocks, int emax,
               std::uint8_t* exponents, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_mx)(format, x, blocks, emax, exponents, codes);
}
void decode_mx(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
               const float* scales, bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_mx)(format, codes, blocks, scales, is_accumulated, out);
}
void encode_nvfp4(const float* x, std::int64_t blocks, float t, std::uint8_t* scale_codes,
                  std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_nvfp4)(x, blocks, t, scale_codes, codes);
}
void decode_nvfp4(const std::uint8_t* codes, std::int64_t blocks, const float* scales,
                  bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_nvfp4)(codes, blocks, scales, is_accumulated, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
