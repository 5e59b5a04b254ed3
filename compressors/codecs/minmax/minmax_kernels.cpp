// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/minmax/minmax_kernels.hpp"

#include <array>
#include <bit>

#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/minmax/minmax_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/host/lanes.inc"

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

// Adding 1.5 * 2^23 leaves the nearest integer (ties to even) in the low bits of the sum.
inline constexpr float kMagic = 12582912.0f;

#if HWY_TARGET <= HWY_AVX2
// Of finite elements of one scope: no quotient is below 0 or above 1.
template <class T>
std::int64_t encode_finite(const T* HWY_RESTRICT x, std::int64_t count, const MinMaxLoop& loop,
                           std::uint8_t* HWY_RESTRICT codes) {
  const Floats base = hn::Set(kFloatTag, loop.base[0]);
  const Floats width = hn::Set(kFloatTag, loop.width[0]);
  const Floats inverse = hn::Set(kFloatTag, 1.0f / loop.width[0]);
  const Floats top = hn::Set(kFloatTag, static_cast<float>(loop.top));
  return store_each(x, count, codes, [&](std::int64_t i) {
    const Floats quotient = near_quotient(hn::Sub(load(x + i), base), width, inverse);
    return to_nearest(hn::Mul(quotient, top));
  });
}

template <class T, bool kPerElement, bool kOverflow, bool kStochastic>
std::int64_t encode_vectors(const T* HWY_RESTRICT x, std::int64_t count, const MinMaxLoop& loop,
                            std::uint8_t* HWY_RESTRICT codes) {
  const Floats top = hn::Set(kFloatTag, static_cast<float>(loop.top));
  const Floats zero = hn::Zero(kFloatTag);
  const Floats one = hn::Set(kFloatTag, 1.0f);
  const auto each = [](const float* values, std::int64_t i) {
    return kPerElement ? load(values + i) : hn::Set(kFloatTag, values[0]);
  };
  return store_each(x, count, codes, [&](std::int64_t i) {
    const Floats width = each(loop.width, i);
    const auto is_constant = hn::Eq(width, zero);
    Floats v = nan_to_zero(load(x + i));
    if constexpr (kOverflow) v = hn::Mul(v, each(loop.factor, i));
    v = hn::Div(hn::Sub(v, each(loop.base, i)), hn::IfThenElse(is_constant, one, width));
    v = hn::IfThenZeroElse(is_constant, hn::Mul(v, top));
    v = hn::Min(hn::Max(v, zero), top);
    if constexpr (!kStochastic) return to_nearest(v);
    const Ints down = truncated(v);  // v >= 0: truncation is the floor
    const Floats rest = hn::Sub(v, hn::ConvertTo(kFloatTag, down));
    const Ints threshold = truncated(hn::Mul(rest, hn::Set(kFloatTag, 65536.0f)));
    const auto is_up = hn::Lt(load_draws(loop.draws + i), threshold);
    return hn::Sub(down, hn::VecFromMask(kIntTag, is_up));
  });
}
#endif

template <class T, bool kPerElement, bool kOverflow, bool kStochastic>
void encode_loop(const T* HWY_RESTRICT x, std::int64_t count, const MinMaxLoop& loop,
                 std::uint8_t* HWY_RESTRICT codes) {
  const float* HWY_RESTRICT base = loop.base;
  const float* HWY_RESTRICT width = loop.width;
  const float* HWY_RESTRICT factor = loop.factor;
  const std::uint16_t* HWY_RESTRICT draws = loop.draws;
  const auto top = static_cast<float>(loop.top);
  const float shared_base = base[0];
  const float shared_width = width[0];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  // Where the exponents stay far from their limits, every code is that of the true quotient.
  if (!kPerElement && !kOverflow && !kStochastic && loop.is_finite && shared_width >= 0x1p-60f &&
      shared_width <= 0x1p60f)
    i = encode_finite(x, count, loop, codes);
  else
    i = encode_vectors<T, kPerElement, kOverflow, kStochastic>(x, count, loop, codes);
#endif
  for (; i < count; ++i) {
    const float b = kPerElement ? base[i] : shared_base;
    const float w = kPerElement ? width[i] : shared_width;
    float v = tersor::compressors::nan_to_zero(widened(x[i])) + 0.0f;
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
      q = static_cast<std::int32_t>(bits_of(v + kMagic));  // only the low byte is used
    }
    codes[i] = static_cast<std::uint8_t>(q);
  }
}

template <class T, bool kPerElement, bool kOverflow>
void encode_rounding(const T* x, std::int64_t count, const MinMaxLoop& loop, std::uint8_t* codes) {
  if (loop.draws == nullptr)
    encode_loop<T, kPerElement, kOverflow, false>(x, count, loop, codes);
  else
    encode_loop<T, kPerElement, kOverflow, true>(x, count, loop, codes);
}

template <class T>
void encode_values(const T* x, std::int64_t count, const MinMaxLoop& loop, std::uint8_t* codes) {
  if (loop.is_per_element && loop.has_overflow)
    encode_rounding<T, true, true>(x, count, loop, codes);
  else if (loop.is_per_element)
    encode_rounding<T, true, false>(x, count, loop, codes);
  else if (loop.has_overflow)
    encode_rounding<T, false, true>(x, count, loop, codes);
  else
    encode_rounding<T, false, false>(x, count, loop, codes);
}

void minmax_encode(Input x, std::int64_t count, const MinMaxLoop& loop, std::uint8_t* codes) {
  x.with([&](const auto* values) { encode_values(values, count, loop, codes); });
}

// 1/top in two parts, for each number of bits.
struct Inverse {
  float near;
  float rest;
};
constexpr std::array<Inverse, 9> make_inverses() {
  std::array<Inverse, 9> all{};
  for (std::size_t bits = 1; bits < all.size(); ++bits) {
    const auto top = static_cast<double>((1 << bits) - 1);
    all[bits].near = static_cast<float>(1.0 / top);
    all[bits].rest = static_cast<float>(1.0 / top - static_cast<double>(all[bits].near));
  }
  return all;
}
inline constexpr std::array<Inverse, 9> kInverses = make_inverses();

template <bool kPerElement, bool kOverflow, bool kAdd>
void decode_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, const MinMaxLoop& loop,
                 float* HWY_RESTRICT out) {
  const float* HWY_RESTRICT base = loop.base;
  const float* HWY_RESTRICT width = loop.width;
  const auto top = static_cast<float>(loop.top);
  const float shared_base = base[0];
  const float shared_width = width[0];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if constexpr (!kOverflow) {
    // q/top is q * near + q * rest, rounded once: so for every q up to top, a test shows.
    const Inverse& inverse = kInverses[std::bit_width(static_cast<unsigned>(loop.top))];
    const Floats near = hn::Set(kFloatTag, inverse.near);
    const Floats rest = hn::Set(kFloatTag, inverse.rest);
    const auto each = [](const float* values, std::int64_t at) {
      return kPerElement ? load(values + at) : hn::Set(kFloatTag, values[0]);
    };
    const auto value = [&](Floats q, std::int64_t at) {
      const Floats share = hn::MulAdd(q, near, hn::Mul(q, rest));
      return hn::Add(each(base, at), hn::Mul(share, each(width, at)));
    };
    if (!kPerElement && loop.top < 16) {
      const Table16 values([&](Floats q) { return value(q, 0); });
      i = store_values<kAdd>(count, out,
                             [&](std::int64_t at) { return values[load_codes(codes + at)]; });
    } else if (!kPerElement && loop.top == 255 && is_moderate(shared_width)) {
      // q/255 = q*(1 + 2^8 + 2^16)/2^24 * (1 + 2^-24 + 2^-48 + ...), of which the first two terms
      // of the last factor give the rounded quotient times 2^24, as the same test shows.
      const Floats ulp = hn::Set(kFloatTag, 0x1p-24f);
      const Floats least = hn::Set(kFloatTag, shared_base);
      const Floats scaled = hn::Set(kFloatTag, shared_width * 0x1p-24f);
      i = store_values<kAdd>(count, out, [&](std::int64_t at) {
        const Floats q = hn::ConvertTo(kFloatTag, load_codes_thrice(codes + at));
        return hn::Add(least, hn::Mul(hn::MulAdd(q, ulp, q), scaled));
      });
    } else {
      i = store_values<kAdd>(count, out, [&](std::int64_t at) {
        return value(hn::ConvertTo(kFloatTag, load_codes(codes + at)), at);
      });
    }
  }
#endif
  for (; i < count; ++i) {
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
void minmax_encode(Input x, std::int64_t count, const MinMaxLoop& loop, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(minmax_encode)(x, count, loop, codes);
}
void minmax_decode(const std::uint8_t* codes, std::int64_t count, const MinMaxLoop& loop,
                   bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(minmax_decode)(codes, count, loop, is_accumulated, out);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
