// SPDX-License-Identifier: Apache-2.0
#include "compressors/quantize/quantize_kernels.hpp"

#include "compressors/api/floats.hpp"
#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/quantize/quantize_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

// Adding 1.5 * 2^23 leaves the nearest integer (ties to even) in the low bits of the sum.
inline constexpr float kMagic = 12582912.0f;

template <bool kPerElement, bool kHalfQuotient, bool kStochastic>
void quantize_loop(const float* HWY_RESTRICT x, std::int64_t count,
                   const float* HWY_RESTRICT divisor, int half,
                   const std::uint16_t* HWY_RESTRICT draws, std::uint8_t* HWY_RESTRICT codes) {
  const auto factor = static_cast<float>(half);
  const float low = -factor;
  const float high = factor - 1.0f;
  const float shared = kPerElement ? 0.0f : divisor[0];
  for (std::int64_t i = 0; i < count; ++i) {
    float v = nan_to_zero(x[i]) / (kPerElement ? divisor[i] : shared);
    if constexpr (kHalfQuotient) v = float16_to_float32(float32_to_float16(v));
    v *= factor;
    v = v > low ? v : low;
    v = v < high ? v : high;
    std::int32_t q;
    if constexpr (kStochastic) {
      const float nearest = (v + kMagic) - kMagic;
      const float down = nearest > v ? nearest - 1.0f : nearest;
      const auto threshold = static_cast<std::int32_t>((v - down) * 65536.0f);
      q = static_cast<std::int32_t>(down) + (static_cast<std::int32_t>(draws[i]) < threshold);
      q = q < half - 1 ? q : half - 1;
    } else {
      q = static_cast<std::int32_t>(bits_of(v + kMagic));  // the low byte is all that is kept
    }
    codes[i] = static_cast<std::uint8_t>(q + half);
  }
}

template <bool kPerElement, bool kHalfQuotient>
void quantize_rounding(const float* x, std::int64_t count, const QuantizeLoop& loop,
                       std::uint8_t* codes) {
  if (loop.draws == nullptr)
    quantize_loop<kPerElement, kHalfQuotient, false>(x, count, loop.divisor, loop.half, nullptr,
                                                     codes);
  else
    quantize_loop<kPerElement, kHalfQuotient, true>(x, count, loop.divisor, loop.half, loop.draws,
                                                    codes);
}

void quantize(const float* x, std::int64_t count, const QuantizeLoop& loop, std::uint8_t* codes) {
  if (loop.is_per_element && loop.is_quotient_float16)
    quantize_rounding<true, true>(x, count, loop, codes);
  else if (loop.is_per_element)
    quantize_rounding<true, false>(x, count, loop, codes);
  else if (loop.is_quotient_float16)
    quantize_rounding<false, true>(x, count, loop, codes);
  else
    quantize_rounding<false, false>(x, count, loop, codes);
}

template <bool kPerElement, bool kFloat16, bool kAdd>
void dequantize_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count,
                     const float* HWY_RESTRICT step, int half, float* HWY_RESTRICT out) {
  const float shared = kPerElement ? 0.0f : step[0];
  for (std::int64_t i = 0; i < count; ++i) {
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
void quantize(const float* x, std::int64_t count, const QuantizeLoop& loop, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(quantize)(x, count, loop, codes);
}
void dequantize(const std::uint8_t* codes, std::int64_t count, const DequantizeLoop& loop,
                float* out) {
  HWY_DYNAMIC_DISPATCH(dequantize)(codes, count, loop, out);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
