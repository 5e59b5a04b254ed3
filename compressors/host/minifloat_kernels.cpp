// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/minifloat_kernels.hpp"

#include "compressors/host/simd.hpp"
#include "compressors/wire/minifloat.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/minifloat_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/host/lanes.inc"
#include "compressors/host/minifloat.inc"

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

template <class Format, bool kPerElement, class T>
void encode_loop(const T* HWY_RESTRICT x, std::int64_t count, const float* HWY_RESTRICT scale,
                 [[maybe_unused]] bool is_bounded, std::uint8_t* HWY_RESTRICT codes) {
  const float shared = scale[0];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if (!kPerElement && is_bounded && is_moderate(shared)) {
    const Floats s = hn::Set(kFloatTag, shared);
    const Floats inverse = hn::Set(kFloatTag, 1.0f / shared);
    i = store_each(x, count, codes, [&](std::int64_t at) {
      const Floats v = load(x + at);
      return small_codes<Format, kBounded>(near_quotient(v, s, inverse), v);
    });
  } else {
    i = store_each(x, count, codes, [&](std::int64_t at) {
      const Floats v = load(x + at);
      const Floats s = kPerElement ? load(scale + at) : hn::Set(kFloatTag, shared);
      const Ints code = small_codes<Format, kAny>(hn::Div(v, s), v);
      return hn::IfThenZeroElse(hn::RebindMask(kIntTag, hn::Eq(s, hn::Zero(kFloatTag))), code);
    });
  }
#endif
  for (; i < count; ++i) {
    const float s = kPerElement ? scale[i] : shared;
    const std::uint32_t code = Format::encode(widened(x[i]) / s);
    codes[i] = static_cast<std::uint8_t>(s == 0.0f ? 0u : code);
  }
}

template <class Format, bool kPerElement, bool kAdd>
void decode_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count,
                 const float* HWY_RESTRICT scale, float* HWY_RESTRICT out) {
  const float shared = scale[0];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if constexpr (Format::kWidth == 4) {
    const Table16 values(kFourBits.data());
    i = store_values<kAdd>(count, out, [&](std::int64_t at) {
      const Floats s = kPerElement ? load(scale + at) : hn::Set(kFloatTag, shared);
      return hn::Mul(values[load_codes(codes + at)], s);
    });
  }
#endif
  for (; i < count; ++i) {
    const float value = Format::decode(codes[i]) * (kPerElement ? scale[i] : shared);
    out[i] = kAdd ? out[i] + value : value;
  }
}

template <class Format>
void encode_format(Input x, std::int64_t count, const float* scale, bool is_per_element,
                   bool is_bounded, std::uint8_t* codes) {
  x.with([&](const auto* values) {
    if (is_per_element)
      encode_loop<Format, true>(values, count, scale, is_bounded, codes);
    else
      encode_loop<Format, false>(values, count, scale, is_bounded, codes);
  });
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

void encode_small(SmallFloat format, Input x, std::int64_t count, const float* scale,
                  bool is_per_element, bool is_bounded, std::uint8_t* codes) {
  with_format(format, [&](auto f) {
    encode_format<decltype(f)>(x, count, scale, is_per_element, is_bounded, codes);
  });
}

void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool each, bool add, float* out) {
  with_format(format,
              [&](auto f) { decode_format<decltype(f)>(codes, count, scale, each, add, out); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

HWY_EXPORT(encode_small);
HWY_EXPORT(decode_small);

void encode_small(SmallFloat format, Input x, std::int64_t count, const float* scale,
                  bool is_per_element, bool is_bounded, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_small)(format, x, count, scale, is_per_element, is_bounded, codes);
}
void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool is_per_element, bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_small)
  (format, codes, count, scale, is_per_element, is_accumulated, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
