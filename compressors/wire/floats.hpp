// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/philox.hpp"

/// Float formats and float32 sums whose bits do not depend on machine, threads or instruction set.
/// All functions assume the default floating-point environment (nearest even, denormals kept).
namespace tersor::compressors {

constexpr float kFloat16Max = 65504.0f;
constexpr float kFloat32Max = std::numeric_limits<float>::max();
constexpr std::uint32_t kNan32 = 0x7FC00000u;
constexpr std::uint16_t kNan16 = 0x7E00u;
constexpr std::uint16_t kNanBf16 = 0x7FC0u;

TERSOR_HOST_DEVICE inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
TERSOR_HOST_DEVICE inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
TERSOR_HOST_DEVICE inline std::uint32_t magnitude_bits(float x) { return bits_of(x) & 0x7FFFFFFFu; }
TERSOR_HOST_DEVICE inline bool is_nan(float x) { return magnitude_bits(x) > 0x7F800000u; }
TERSOR_HOST_DEVICE inline bool is_finite(float x) { return magnitude_bits(x) < 0x7F800000u; }
/// Non-finite values count as 0.
TERSOR_HOST_DEVICE inline float finite_or_zero(float x) { return is_finite(x) ? x : 0.0f; }
TERSOR_HOST_DEVICE inline float nan_to_zero(float x) { return is_nan(x) ? 0.0f : x; }
/// Integer order of magnitudes: every NaN is the canonical one, above infinity (topk).
TERSOR_HOST_DEVICE inline std::uint32_t magnitude_key(float x) {
  return is_nan(x) ? kNan32 : magnitude_bits(x);
}

/// Exact; NaN payloads stay as they are.
TERSOR_HOST_DEVICE inline float float16_to_float32(std::uint16_t half) {
  const std::uint32_t exponent_mask = 0x7C00u << 13;
  std::uint32_t bits = (half & 0x7FFFu) << 13;
  const std::uint32_t exponent = bits & exponent_mask;
  bits += (127u - 15u) << 23;
  const std::uint32_t special = bits + ((128u - 16u) << 23);
  const float subnormal = float_of(bits + (1u << 23)) - float_of(113u << 23);
  bits = exponent == exponent_mask ? special : exponent == 0 ? bits_of(subnormal) : bits;
  return float_of(bits | (half & 0x8000u) << 16);
}

/// Nearest even; overflow gives infinity; NaN becomes the canonical NaN.
TERSOR_HOST_DEVICE inline std::uint16_t float32_to_float16(float x) {
  const std::uint32_t magnitude = magnitude_bits(x);
  const std::uint32_t denormal_magic = ((127u - 15u) + (23u - 10u) + 1u) << 23;
  const std::uint32_t subnormal =
      bits_of(float_of(magnitude) + float_of(denormal_magic)) - denormal_magic;
  const std::uint32_t normal =
      (magnitude - ((127u - 15u) << 23) + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  std::uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= (127u + 16u) << 23 ? 0x7C00u : result;
  result |= (bits_of(x) >> 16) & 0x8000u;
  return static_cast<std::uint16_t>(magnitude > 0x7F800000u ? kNan16 : result);
}

/// As float32_to_float16, but finite values saturate at 65,504: how values are sent.
TERSOR_HOST_DEVICE inline std::uint16_t round_to_float16(float x) {
  const std::uint16_t half = float32_to_float16(x);
  const bool overflowed = (half & 0x7FFFu) == 0x7C00u && is_finite(x);
  return static_cast<std::uint16_t>(half - (overflowed ? 1 : 0));
}

/// Saturates infinities too: how scales are stored. x is not NaN.
TERSOR_HOST_DEVICE inline std::uint16_t scale_to_float16(float x) {
  const std::uint16_t half = float32_to_float16(x);
  return static_cast<std::uint16_t>(half - ((half & 0x7FFFu) == 0x7C00u ? 1 : 0));
}

TERSOR_HOST_DEVICE inline float bfloat16_to_float32(std::uint16_t x) {
  return float_of(static_cast<std::uint32_t>(x) << 16);
}

/// Nearest even; finite values saturate; infinities stay; NaN becomes the canonical NaN.
TERSOR_HOST_DEVICE inline std::uint16_t round_to_bfloat16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t result = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  result -= (result & 0x7FFFu) == 0x7F80u && magnitude < 0x7F800000u ? 1u : 0u;
  return static_cast<std::uint16_t>(magnitude > 0x7F800000u ? kNanBf16 : result);
}

/// Nearest even integer, as the processor rounds; |x| < 2^22 (clamp to the code range first).
TERSOR_HOST_DEVICE inline float round_nearest_even(float x) {
  const float magic = 12582912.0f;  // 1.5 * 2^23: the sum has no fraction bits
  return (x + magic) - magic;
}

/// METHODS section 1, "Fixed tree": mean of |x| or of x^2 over n elements `stride` apart;
/// non-finite elements count as 0. The sum may overflow to infinity. n = 0 gives 0.
float fixed_tree_mean(const float* x, std::int64_t n, std::int64_t stride, bool square);

/// Largest finite magnitude, 0 where there is none.
float finite_absmax(const float* x, std::int64_t n, std::int64_t stride);

}  // namespace tersor::compressors
