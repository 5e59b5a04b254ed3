// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "compressors/wire/floats.hpp"

namespace tersor::compressors {

/// Floats of 4, 6 and 8 bits (OCP MX 1.0; Micikevicius et al. 2022), and the 8-bit integers of MX:
/// the arithmetic of one element, on host and device. The constants are values, so that one kernel
/// serves all formats. Rounding is to nearest even, subnormals are exact, what is above the largest
/// value saturates, NaN becomes 0; the sign bit is the top one. No code for infinity or NaN is ever
/// written.
struct SmallFormat {
  int width = 8;
  int shift = 0;  ///< mantissa bits of float32 that the format lacks
  std::uint32_t largest_bits = 0;
  std::uint32_t smallest_normal_bits = 0;
  std::uint32_t rebias = 0;
  /// A float32 whose last place is the smallest subnormal: adding it rounds to that grid.
  std::uint32_t magic_bits = 0;
  float place = 0.0f;    ///< value of the last place of a subnormal
  bool is_int8 = false;  ///< two's complement: a code is rne(64 value) clamped to +-127

  // Inlined before anything else, so that loops with constants for a format vectorise: fp8 decodes
  // a third as fast otherwise.
  [[gnu::always_inline]] TERSOR_HOST_DEVICE std::uint32_t encode(float value) const {
    if (is_int8) {
      float v = 64.0f * nan_to_zero(value);
      v = v > -127.0f ? v : -127.0f;
      v = v < 127.0f ? v : 127.0f;
      return bits_of(v + 12582912.0f) & 0xFFu;  // 1.5 * 2^23: the integer is in the low bits
    }
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    const std::uint32_t limited = magnitude < largest_bits ? magnitude : largest_bits;
    const std::uint32_t half = (1u << (shift - 1)) - 1;
    const std::uint32_t normal = (limited - rebias + half + ((limited >> shift) & 1u)) >> shift;
    const std::uint32_t subnormal = bits_of(float_of(limited) + float_of(magic_bits)) - magic_bits;
    const std::uint32_t code = limited < smallest_normal_bits ? subnormal : normal;
    return magnitude > 0x7F800000u ? 0u : code | (bits >> 31) << (width - 1);
  }

  [[gnu::always_inline]] TERSOR_HOST_DEVICE float decode(std::uint32_t code) const {
    if (is_int8)
      return 0.015625f * static_cast<float>(static_cast<std::int32_t>(code ^ 0x80u) - 128);
    const std::uint32_t magnitude = code & ((1u << (width - 1)) - 1);
    const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * place;
    const std::uint32_t normal = (magnitude << shift) + rebias;
    const std::uint32_t bits = magnitude < 1u << (23 - shift) ? bits_of(subnormal) : normal;
    return float_of(bits | (code >> (width - 1)) << 31);
  }
};

/// One of them with its constants known to the compiler, for the loops of host/.
template <int kExponentBits, int kMantissaBits, int kBias, std::uint32_t kLargestCode>
struct MiniFloat {
  static constexpr int kWidth = 1 + kExponentBits + kMantissaBits;
  static constexpr bool kIsInteger = false;
  static constexpr std::uint32_t kMagnitude = (1u << (kWidth - 1)) - 1;
  static constexpr int kShift = 23 - kMantissaBits;
  static constexpr std::uint32_t kMagicBits =
      static_cast<std::uint32_t>(127 + 23 + 1 - kBias - kMantissaBits) << 23;
  static constexpr std::uint32_t kSmallestNormalBits = static_cast<std::uint32_t>(128 - kBias)
                                                       << 23;
  static constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kBias) << 23;
  /// The largest finite value, as float32 bits.
  static constexpr std::uint32_t kLargestBits = (kLargestCode << kShift) + kRebias;
  /// 2^(1 - bias - mantissa bits)
  static constexpr std::uint32_t kPlaceBits =
      static_cast<std::uint32_t>(128 - kBias - kMantissaBits) << 23;

  TERSOR_HOST_DEVICE static SmallFormat format() {
    return {kWidth,  kShift,     kLargestBits,         kSmallestNormalBits,
            kRebias, kMagicBits, float_of(kPlaceBits), false};
  }
  TERSOR_HOST_DEVICE static std::uint32_t encode(float value) { return format().encode(value); }
  TERSOR_HOST_DEVICE static float decode(std::uint32_t code) { return format().decode(code); }
};

using E4M3 = MiniFloat<4, 3, 7, 0x7E>;   ///< to 448
using E5M2 = MiniFloat<5, 2, 15, 0x7B>;  ///< to 57,344
using E2M3 = MiniFloat<2, 3, 1, 0x1F>;   ///< to 7.5
using E3M2 = MiniFloat<3, 2, 3, 0x1F>;   ///< to 28
using E2M1 = MiniFloat<2, 1, 1, 0x7>;    ///< to 6

/// The 8-bit integers of MX, in the shape of a small float.
struct MxInt8 {
  static constexpr int kWidth = 8;
  static constexpr bool kIsInteger = true;

  TERSOR_HOST_DEVICE static SmallFormat format() { return {8, 0, 0, 0, 0, 0, 0.0f, true}; }
  TERSOR_HOST_DEVICE static std::uint32_t encode(float value) { return format().encode(value); }
  TERSOR_HOST_DEVICE static float decode(std::uint32_t code) { return format().decode(code); }
};

enum class SmallFloat : std::uint8_t { kE4M3, kE5M2, kE2M3, kE3M2, kE2M1, kInt8 };

/// Bits of a code: 8, 8, 6, 6, 4, 8.
int width_of(SmallFloat format);
/// 448, 57,344, 7.5, 28, 6, 127/64
float largest_of(SmallFloat format);

/// Elements of a block of MX, and of NVFP4.
inline constexpr std::int64_t kMxBlock = 32;
inline constexpr std::int64_t kNvFp4Block = 16;

/// e + 127 (emax >= 0) for a block whose finite absolute maximum has these bits; 0 for a block of
/// zeros.
TERSOR_HOST_DEVICE inline std::uint8_t mx_exponent(std::uint32_t absmax_bits, int emax) {
  if (absmax_bits == 0) return 0;
  // A subnormal is an integer times 2^-149.
  const bool is_normal = absmax_bits >= 0x00800000u;
  const std::uint32_t bits =
      is_normal ? absmax_bits : bits_of(static_cast<float>(static_cast<std::int32_t>(absmax_bits)));
  int e = static_cast<int>(bits >> 23) - 127 - (is_normal ? 0 : 149) - emax;
  e = e < -127 ? -127 : e;
  e = e > 127 ? 127 : e;
  return static_cast<std::uint8_t>(e + 127);
}
/// 2^(stored - 127): the scale of a block.
TERSOR_HOST_DEVICE inline float mx_scale(std::uint32_t stored) {
  return float_of(stored == 0 ? 0x00400000u : stored << 23);
}
/// 2^(127 - stored), or its half where that is too large: dividing by the scale is multiplying by
/// it.
TERSOR_HOST_DEVICE inline float mx_inverse_scale(std::uint32_t stored) {
  return float_of(stored == 254 ? 0x00400000u : (254u - stored) << 23);
}
/// The format with its constants as values.
SmallFormat small_format(SmallFloat format);

}  // namespace tersor::compressors
