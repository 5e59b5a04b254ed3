// SPDX-License-Identifier: Apache-2.0
#include "compressors/minmax/minmax_kernels.hpp"

#include "compressors/api/floats.hpp"
#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/minmax/minmax_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

// Adding 1.5 * 2^23 leaves the nearest integer (ties to even) in the low bits of the sum.
inline constexpr float kMagic = 12582912.0f;

template <bool kPerElement, bool kOverflow, bool kStochastic>
void encode_loop(const float* HWY_RESTRICT x, std::int64_t count, const MinMaxLoop& loop,
                 std::uint8_t* HWY_RESTRICT codes) {
  const float* HWY_RESTRICT base = loop.base;
  const float* HWY_RESTRICT width = loop.width;
  const float* HWY_RESTRICT factor = loop.factor;
  const std::uint16_t* HWY_RESTRICT draws = loop.draws;
  const auto top = static_cast<float>(loop.top);
  const float shared_base = base[0];
  const float shared_width = width[0];
  for (std::int64_t i = 0; i < count; ++i) {
    const float b = kPerElement ? base[i] : shared_base;
    const float w = kPerElement ? width[i] : shared_width;
    float v = nan_to_zero(x[i]) + 0.0f;
    if constexpr (kOverflow) v *= kPerElement ? factor[i] : factor[0];
    v = (v - b) / (w == 0.0f ? 1.0f : w) * top;
    v = w == 0.0f ? 0.0f : v;
    v = v > 0.0f ? v : 0.0f;
    v = v < top ? v : top;
    std::int32_t q;
    if constexpr (kStochastic) {
      const auto down = static_cast<std::int32_t>(v);  // v >= 0: truncation is the floor
      const auto threshold = static_cast<std::int32_t>((v - static_cast<float>(down)) * 65536.0f);
      q = down + (static_cast<std::int32_t>(draws[i]) < threshold);
    } else {
      q = static_cast<std::int32_t>(bits_of(v + kMagic));  // the low byte is all that is kept
    }
    codes[i] = static_cast<std::uint8_t>(q);
  }
}

template <bool kPerElement, bool kOverflow>
void encode_rounding(const float* x, std::int64_t count, const MinMaxLoop& loop,
                     std::uint8_t* codes) {
  if (loop.draws == nullptr)
    encode_loop<kPerElement, kOverflow, false>(x, count, loop, codes);
  else
    encode_loop<kPerElement, kOverflow, true>(x, count, loop, codes);
}

void minmax_encode(const float* x, std::int64_t count, const MinMaxLoop& loop,
                   std::uint8_t* codes) {
  if (loop.is_per_element && loop.has_overflow)
    encode_rounding<true, true>(x, count, loop, codes);
  else if (loop.is_per_element)
    encode_rounding<true, false>(x, count, loop, codes);
  else if (loop.has_overflow)
    encode_rounding<false, true>(x, count, loop, codes);
  else
    encode_rounding<false, false>(x, count, loop, codes);
}

template <bool kPerElement, bool kOverflow, bool kAdd>
void decode_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, const MinMaxLoop& loop,
                 float* HWY_RESTRICT out) {
  const float* HWY_RESTRICT base = loop.base;
  const float* HWY_RESTRICT width = loop.width;
  const auto top = static_cast<float>(loop.top);
  const float shared_base = base[0];
  const float shared_width = width[0];
  for (std::int64_t i = 0; i < count; ++i) {
    const float share = static_cast<float>(static_cast<int>(codes[i])) / top;
    float value =
        (kPerElement ? base[i] : shared_base) + share * (kPerElement ? width[i] : shared_width);
    if constexpr (kOverflow) {
      const std::int64_t at = kPerElement ? i : 0;
      float doubled = value * 2.0f;
      doubled = doubled < loop.low[at] ? loop.low[at] : doubled;
      doubled = doubled > loop.high[at] ? loop.high[at] : doubled;
      value = loop.factor[at] == 0.5f ? doubled : value;
    }
    out[i] = kAdd ? out[i] + value : value;
  }
}

template <bool kPerElement, bool kOverflow>
void decode_sum(const std::uint8_t* codes, std::int64_t count, const MinMaxLoop& loop,
                bool is_accumulated, float* out) {
  if (is_accumulated)
    decode_loop<kPerElement, kOverflow, true>(codes, count, loop, out);
  else
    decode_loop<kPerElement, kOverflow, false>(codes, count, loop, out);
}

void minmax_decode(const std::uint8_t* codes, std::int64_t count, const MinMaxLoop& loop,
                   bool is_accumulated, float* out) {
  if (loop.is_per_element && loop.has_overflow)
    decode_sum<true, true>(codes, count, loop, is_accumulated, out);
  else if (loop.is_per_element)
    decode_sum<true, false>(codes, count, loop, is_accumulated, out);
  else if (loop.has_overflow)
    decode_sum<false, true>(codes, count, loop, is_accumulated, out);
  else
    decode_sum<false, false>(codes, count, loop, is_accumulated, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(minmax_encode);
HWY_EXPORT(minmax_decode);
void minmax_encode(const float* x, std::int64_t count, const MinMaxLoop& loop,
                   std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(minmax_encode)(x, count, loop, codes);
}
void minmax_decode(const std::uint8_t* codes, std::int64_t count, const MinMaxLoop& loop,
                   bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(minmax_decode)(codes, count, loop, is_accumulated, out);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
