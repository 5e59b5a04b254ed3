// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/scaled.cuh"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors::device {

/// The formats of minifloat.hpp with their constants as values, so that one kernel does all.
struct SmallFormat {
  int width = 8;
  int shift = 0;  ///< mantissa bits of float32 that the format lacks
  std::uint32_t largest_bits = 0;
  std::uint32_t smallest_normal_bits = 0;
  std::uint32_t rebias = 0;
  std::uint32_t magic_bits = 0;
  float place = 0.0f;  ///< value of the last place of a subnormal
  bool is_int8 = false;

  __device__ __forceinline__ std::uint32_t encode(float value) const {
    if (is_int8) return encode_int8(value);
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    const std::uint32_t limited = magnitude < largest_bits ? magnitude : largest_bits;
    const std::uint32_t half = (1u << (shift - 1)) - 1;
    const std::uint32_t normal = (limited - rebias + half + ((limited >> shift) & 1u)) >> shift;
    const std::uint32_t subnormal =
        bits_of(__fadd_rn(float_of(limited), float_of(magic_bits))) - magic_bits;
    const std::uint32_t code = limited < smallest_normal_bits ? subnormal : normal;
    return magnitude > 0x7F800000u ? 0u : code | (bits >> 31) << (width - 1);
  }
  __device__ __forceinline__ float decode(std::uint32_t code) const {
    if (is_int8) {
      const auto q = static_cast<std::int32_t>(code ^ 0x80u) - 128;
      return __fmul_rn(static_cast<float>(q), 0.015625f);
    }
    const std::uint32_t magnitude = code & ((1u << (width - 1)) - 1);
    const float subnormal =
        __fmul_rn(static_cast<float>(static_cast<std::int32_t>(magnitude)), place);
    const std::uint32_t normal = (magnitude << shift) + rebias;
    const std::uint32_t bits = magnitude < 1u << (23 - shift) ? bits_of(subnormal) : normal;
    return float_of(bits | (code >> (width - 1)) << 31);
  }

 private:
  __device__ __forceinline__ static std::uint32_t encode_int8(float value) {
    float v = __fmul_rn(nan_to_zero(value), 64.0f);
    v = v > -127.0f ? v : -127.0f;
    v = v < 127.0f ? v : 127.0f;
    const auto q = static_cast<std::int32_t>(round_nearest_even(v));
    return static_cast<std::uint32_t>(q) & 0xFFu;
  }
};

template <class Format>
SmallFormat small_format() {
  SmallFormat f;
  f.width = Format::kWidth;
  f.shift = Format::kShift;
  f.largest_bits = Format::kLargestBits;
  f.smallest_normal_bits = Format::kSmallestNormalBits;
  f.rebias = Format::kRebias;
  f.magic_bits = Format::kMagicBits;
  f.place = Format::decode(1);
  return f;
}

inline SmallFormat small_format_of(SmallFloat format) {
  switch (format) {
    case SmallFloat::kE4M3: return small_format<E4M3>();
    case SmallFloat::kE5M2: return small_format<E5M2>();
    case SmallFloat::kE2M3: return small_format<E2M3>();
    case SmallFloat::kE3M2: return small_format<E3M2>();
    case SmallFloat::kE2M1: return small_format<E2M1>();
    case SmallFloat::kInt8: break;
  }
  SmallFormat f;
  f.is_int8 = true;
  return f;
}

/// What coders of small floats share: nearest rounding of x / scale, 0 where the scale is 0.
struct SmallFloatCoder {
  using Key = MagnitudeKey;
  struct Scale {
    float value = 1.0f;
    std::uint32_t stored = 0;
  };
  struct Step {
    float scale = 0.0f;
  };
  static constexpr bool kHasChannels = false;
  static constexpr bool kHasMeans = false;
  static constexpr bool kHasTensorScale = false;

  int width = 8;
  std::int64_t metadata_bytes = 0;
  Rounding rounding;
  SmallFormat format;

  __device__ __forceinline__ std::uint32_t code(float x, const Scale& scale) const {
    const std::uint32_t code = format.encode(__fdiv_rn(x, scale.value));
    return scale.value == 0.0f ? 0u : code;
  }
  __device__ __forceinline__ std::uint32_t code_drawn(float x, const Scale& scale,
                                                      std::int32_t) const {
    return code(x, scale);
  }
  __device__ __forceinline__ static Step step_of(const Scale& scale) { return {scale.value}; }
  __device__ __forceinline__ float value(std::uint32_t code, const Step& step) const {
    return __fmul_rn(format.decode(code), step.scale);
  }
};

}  // namespace tersor::compressors::device
