// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/quantize/quantize_kernels.hpp"

#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/quantize/quantize_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/host/lanes.inc"

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

// Adding 1.5 * 2^23 leaves the nearest integer (ties to even) in the low bits of the sum.
inline constexpr float kMagic = 12582912.0f;

#if HWY_TARGET <= HWY_AVX2
inline Floats to_float16(Floats x) {
#if HWY_TARGET <= HWY_AVX3
  return Floats{_mm512_cvtph_ps(_mm512_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT))};
#else
  return Floats{_mm256_cvtph_ps(_mm256_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT))};
#endif
}

template <bool kPerElement>
inline Floats each(const float* values, std::int64_t i) {
  return kPerElement ? load(values + i) : hn::Set(kFloatTag, values[0]);
}

// To the nearest code. Divisors are 1e-6 to 65,505, so no exponent comes near its limits; what is
// above the divisor gets the end codes. kBounded: nothing is above it but by rounding of the scale.
template <class T, bool kPerElement, bool kBounded>
std::int64_t encode_nearest(const T* HWY_RESTRICT x, std::int64_t count, const QuantizeLoop& loop,
                            std::uint8_t* HWY_RESTRICT codes) {
  // Steps of 1/half in the last place: the sum is rounded to a code, and is its bits but for a
  // constant.
  const float magic = 12582912.0f / static_cast<float>(loop.half);
  const Floats shift = hn::Set(kFloatTag, magic);
  const Floats last =
      hn::Set(kFloatTag, magic + static_cast<float>(loop.half - 1) / static_cast<float>(loop.half));
  const Ints zero_code = hn::Set(kIntTag, static_cast<std::int32_t>(bits_of(magic)) - loop.half);
  return store_each(x, count, codes, [&](std::int64_t i) {
    const Floats divisor = each<kPerElement>(loop.divisor, i);
    Floats v = load(x + i);
    if constexpr (!kBounded) v = hn::Min(hn::Max(nan_to_zero(v), hn::Neg(divisor)), divisor);
    const Floats quotient = near_quotient(v, divisor, each<kPerElement>(loop.inverse, i));
    const Floats sum = hn::Min(hn::Add(quotient, shift), last);
    return hn::Sub(hn::BitCast(kIntTag, sum), zero_code);
  });
}

template <class T, bool kPerElement, bool kHalfQuotient, bool kStochastic>
std::int64_t encode_vectors(const T* HWY_RESTRICT x, std::int64_t count, const QuantizeLoop& loop,
                            std::uint8_t* HWY_RESTRICT codes) {
  const auto factor = static_cast<float>(loop.half);
  const Floats half = hn::Set(kFloatTag, factor);
  const Floats high = hn::Set(kFloatTag, factor - 1.0f);
  const Ints last = hn::Set(kIntTag, loop.half - 1);
  const Ints offset = hn::Set(kIntTag, loop.half);
  return store_each(x, count, codes, [&](std::int64_t i) {
    Floats v = hn::Div(nan_to_zero(load(x + i)), each<kPerElement>(loop.divisor, i));
    if constexpr (kHalfQuotient) v = to_float16(v);
    v = hn::Min(hn::Max(hn::Mul(v, half), hn::Neg(half)), high);
    if constexpr (!kStochastic) return hn::Add(to_nearest(v), offset);
    const Floats down = hn::Floor(v);
    const Ints threshold = truncated(hn::Mul(hn::Sub(v, down), hn::Set(kFloatTag, 65536.0f)));
    const auto is_up = hn::Lt(load_draws(loop.draws + i), threshold);
    const Ints q = hn::Sub(truncated(down), hn::VecFromMask(kIntTag, is_up));
    return hn::Add(hn::Min(q, last), offset);
  });
}
#endif

template <class T, bool kPerElement, bool kHalfQuotient, bool kStochastic>
void quantize_loop(const T* HWY_RESTRICT x, std::int64_t count, const QuantizeLoop& loop,
                   std::uint8_t* HWY_RESTRICT codes) {
  const float* HWY_RESTRICT divisor = loop.divisor;
  const int half = loop.half;
  const auto factor = static_cast<float>(half);
  const float low = -factor;
  const float high = factor - 1.0f;
  const float shared = kPerElement ? 0.0f : divisor[0];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if (!kHalfQuotient && !kStochastic && loop.inverse != nullptr)
    i = loop.is_bounded ? encode_nearest<T, kPerElement, true>(x, count, loop, codes)
                        : encode_nearest<T, kPerElement, false>(x, count, loop, codes);
  else
    i = encode_vectors<T, kPerElement, kHalfQuotient, kStochastic>(x, count, loop, codes);
#endif
  for (; i < count; ++i) {
    float v = tersor::compressors::nan_to_zero(widened(x[i])) / (kPerElement ? divisor[i] : shared);
    if constexpr (kHalfQuotient) v = float16_to_float32(float32_to_float16(v));
    v *= factor;
    v = v > low ? v : low;
    v = v < high ? v : high;
    std::int32_t q;
    if constexpr (kStochastic) {
      const float nearest = (v + kMagic) - kMagic;
      const float down = nearest > v ? nearest - 1.0f : nearest;
      const auto threshold = static_cast<std::int32_t>((v - down) * 65536.0f);
      q = static_cast<std::int32_t>(down) + (static_cast<std::int32_t>(loop.draws[i]) < threshold);
      q = q < half - 1 ? q : half - 1;
    } else {
      q = static_cast<std::int32_t>(bits_of(v + kMagic));  // only the low byte is used
    }
    codes[i] = static_cast<std::uint8_t>(q + half);
  }
}

template <class T, bool kPerElement, bool kHalfQuotient>
void quantize_rounding(const T* x, std::int64_t count, const QuantizeLoop& loop,
                       std::uint8_t* codes) {
  if (loop.draws == nullptr)
    quantize_loop<T, kPerElement, kHalfQuotient, false>(x, count, loop, codes);
  else
    quantize_loop<T, kPerElement, kHalfQuotient, true>(x, count, loop, codes);
}

template <class T>
void quantize_values(const T* x, std::int64_t count, const QuantizeLoop& loop,
                     std::uint8_t* codes) {
  if (loop.is_per_element && loop.is_quotient_float16)
    quantize_rounding<T, true, true>(x, count, loop, codes);
  else if (loop.is_per_element)
    quantize_rounding<T, true, false>(x, count, loop, codes);
  else if (loop.is_quotient_float16)
    quantize_rounding<T, false, true>(x, count, loop, codes);
  else
    quantize_rounding<T, false, false>(x, count, loop, codes);
}

void quantize(Input x, std::int64_t count, const QuantizeLoop& loop, std::uint8_t* codes) {
  x.with([&](const auto* values) { quantize_values(values, count, loop, codes); });
}

template <bool kPerElement, bool kFloat16, bool kAdd>
void dequantize_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count,
                     const float* HWY_RESTRICT step, int half, float* HWY_RESTRICT out) {
  const float shared = kPerElement ? 0.0f : step[0];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const Ints offset = hn::Set(kIntTag, half);
  i = store_values<kAdd>(count, out, [&](std::int64_t at) {
    const Floats q = hn::ConvertTo(kFloatTag, hn::Sub(load_codes(codes + at), offset));
    const Floats value = hn::Mul(q, each<kPerElement>(step, at));
    if constexpr (kFloat16) return to_float16(value);
    return value;
  });
#endif
  for (; i < count; ++i) {
    float value =
        static_cast<float>(static_cast<int>(codes[i]) - half) * (kPerElement ? step[i] : shared);
    if constexpr (kFloat16) value = float16_to_float32(float32_to_float16(value));
    out[i] = kAdd ? out[i] + value : value;
  }
}

template <bool kPerElement, bool kFloat16>
void dequantize_sum(const std::uint8_t* codes, std::int64_t count, const DequantizeLoop& loop,
                    float* out) {
  if (loop.is_accumulated)
    dequantize_loop<kPerElement, kFloat16, true>(codes, count, loop.step, loop.half, out);
  else
    dequantize_loop<kPerElement, kFloat16, false>(codes, count, loop.step, loop.half, out);
}

void dequantize(const std::uint8_t* codes, std::int64_t count, const DequantizeLoop& loop,
                float* out) {
  if (loop.is_per_element && loop.is_float16)
    dequantize_sum<true, true>(codes, count, loop, out);
  else if (loop.is_per_element)
    dequantize_sum<true, false>(codes, count, loop, out);
  else if (loop.is_float16)
    dequantize_sum<false, true>(codes, count, loop, out);
  else
    dequantize_sum<false, false>(codes, count, loop, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(quantize);
HWY_EXPORT(dequantize);
void quantize(Input x, std::int64_t count, const QuantizeLoop& loop, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(quantize)(x, count, loop, codes);
}
void dequantize(const std::uint8_t* codes, std::int64_t count, const DequantizeLoop& loop,
                float* out) {
  HWY_DYNAMIC_DISPATCH(dequantize)(codes, count, loop, out);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
