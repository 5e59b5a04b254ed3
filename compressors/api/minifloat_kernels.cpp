// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/minifloat_kernels.hpp"

#include "compressors/api/minifloat.hpp"
#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/api/minifloat_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

template <class Format, bool kPerElement>
void encode_loop(const float* HWY_RESTRICT x, std::int64_t count, const float* HWY_RESTRICT scale,
                 std::uint8_t* HWY_RESTRICT codes) {
  const float shared = scale[0];
  for (std::int64_t i = 0; i < count; ++i) {
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

// The integers of MX, in the shape of a small float.
struct Int8 {
  static std::uint32_t encode(float value) {
    float v = 64.0f * nan_to_zero(value);
    v = v > -127.0f ? v : -127.0f;
    v = v < 127.0f ? v : 127.0f;
    return bits_of(v + 12582912.0f) & 0xFFu;  // 1.5 * 2^23: the integer stands in the low bits
  }
  static float decode(std::uint32_t code) {
    return static_cast<float>(static_cast<std::int8_t>(code)) / 64.0f;
  }
};

void encode_small(SmallFloat format, const float* x, std::int64_t count, const float* scale,
                  bool is_per_element, std::uint8_t* codes) {
  switch (format) {
    case SmallFloat::kE4M3: return encode_format<E4M3>(x, count, scale, is_per_element, codes);
    case SmallFloat::kE5M2: return encode_format<E5M2>(x, count, scale, is_per_element, codes);
    case SmallFloat::kE2M3: return encode_format<E2M3>(x, count, scale, is_per_element, codes);
    case SmallFloat::kE3M2: return encode_format<E3M2>(x, count, scale, is_per_element, codes);
    case SmallFloat::kE2M1: return encode_format<E2M1>(x, count, scale, is_per_element, codes);
  }
}

void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool each, bool add, float* out) {
  switch (format) {
    case SmallFloat::kE4M3: return decode_format<E4M3>(codes, count, scale, each, add, out);
    case SmallFloat::kE5M2: return decode_format<E5M2>(codes, count, scale, each, add, out);
    case SmallFloat::kE2M3: return decode_format<E2M3>(codes, count, scale, each, add, out);
    case SmallFloat::kE3M2: return decode_format<E3M2>(codes, count, scale, each, add, out);
    case SmallFloat::kE2M1: return decode_format<E2M1>(codes, count, scale, each, add, out);
  }
}

void encode_mx_int8(const float* x, std::int64_t count, const float* scale, bool is_per_element,
                    std::uint8_t* codes) {
  encode_format<Int8>(x, count, scale, is_per_element, codes);
}

void decode_mx_int8(const std::uint8_t* codes, std::int64_t count, const float* scale, bool each,
                    bool add, float* out) {
  decode_format<Int8>(codes, count, scale, each, add, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

int width_of(SmallFloat format) {
  switch (format) {
    case SmallFloat::kE4M3:
    case SmallFloat::kE5M2: return 8;
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
  }
  return 0;
}

HWY_EXPORT(encode_small);
HWY_EXPORT(decode_small);
HWY_EXPORT(encode_mx_int8);
HWY_EXPORT(decode_mx_int8);

void encode_small(SmallFloat format, const float* x, std::int64_t count, const float* scale,
                  bool is_per_element, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_small)(format, x, count, scale, is_per_element, codes);
}
void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool is_per_element, bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_small)
  (format, codes, count, scale, is_per_element, is_accumulated, out);
}
void encode_mx_int8(const float* x, std::int64_t count, const float* scale, bool is_per_element,
                    std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_mx_int8)(x, count, scale, is_per_element, codes);
}
void decode_mx_int8(const std::uint8_t* codes, std::int64_t count, const float* scale,
                    bool is_per_element, bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_mx_int8)
  (codes, count, scale, is_per_element, is_accumulated, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
