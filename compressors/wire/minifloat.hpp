// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "compressors/wire/floats.hpp"

namespace tersor::compressors {

/// Floats of 4, 6 and 8 bits (OCP MX 1.0; Micikevicius et al. 2022). Rounding is to nearest even,
/// subnormals are kept, what is above the largest value saturates, NaN becomes 0; the sign bit
/// stands on top. No code for infinity or NaN is ever written.
template <int kExponentBits, int kMantissaBits, int kBias, std::uint32_t kLargestCode>
struct MiniFloat {
  static constexpr int kWidth = 1 + kExponentBits + kMantissaBits;
  static constexpr bool kIsInteger = false;
  static constexpr std::uint32_t kMagnitude = (1u << (kWidth - 1)) - 1;
  static constexpr int kShift = 23 - kMantissaBits;
  /// A float32 whose last place is the smallest subnormal: adding it rounds to that grid.
  static constexpr std::uint32_t kMagicBits =
      static_cast<std::uint32_t>(127 + 23 + 1 - kBias - kMantissaBits) << 23;
  static constexpr std::uint32_t kSmallestNormalBits = static_cast<std::uint32_t>(128 - kBias)
                                                       << 23;
  static constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kBias) << 23;

  /// The largest finite value, as float32 bits.
  static constexpr std::uint32_t kLargestBits = (kLargestCode << kShift) + kRebias;

  TERSOR_HOST_DEVICE static std::uint32_t encode(float value) {
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    const std::uint32_t limited = magnitude < kLargestBits ? magnitude : kLargestBits;
    const std::uint32_t normal =
        (limited - kRebias + ((1u << (kShift - 1)) - 1) + ((limited >> kShift) & 1u)) >> kShift;
    const std::uint32_t subnormal = bits_of(float_of(limited) + float_of(kMagicBits)) - kMagicBits;
    const std::uint32_t code = limited < kSmallestNormalBits ? subnormal : normal;
    return magnitude > 0x7F800000u ? 0u : code | (bits >> 31) << (kWidth - 1);
  }

  TERSOR_HOST_DEVICE static float decode(std::uint32_t code) {
    const std::uint32_t magnitude = code & kMagnitude;
    // The value of one place of a subnormal: 2^(1 - bias - mantissa bits).
    const float place = float_of(static_cast<std::uint32_t>(128 - kBias - kMantissaBits) << 23);
    const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * place;
    const std::uint32_t normal = (magnitude << kShift) + kRebias;
    const std::uint32_t bits = magnitude < (1u << kMantissaBits) ? bits_of(subnormal) : normal;
    return float_of(bits | (code >> (kWidth - 1)) << 31);
  }
};

using E4M3 = MiniFloat<4, 3, 7, 0x7E>;   ///< to 448
using E5M2 = MiniFloat<5, 2, 15, 0x7B>;  ///< to 57,344
using E2M3 = MiniFloat<2, 3, 1, 0x1F>;   ///< to 7.5
using E3M2 = MiniFloat<3, 2, 3, 0x1F>;   ///< to 28
using E2M1 = MiniFloat<2, 1, 1, 0x7>;    ///< to 6

/// The 8-bit integers of MX, two's complement, in the shape of a small float: a code is
/// rne(64 value) clamped to +-127.
struct MxInt8 {
  static constexpr int kWidth = 8;
  static constexpr bool kIsInteger = true;

  TERSOR_HOST_DEVICE static std::uint32_t encode(float value) {
    float v = 64.0f * nan_to_zero(value);
    v = v > -127.0f ? v : -127.0f;
    v = v < 127.0f ? v : 127.0f;
    return bits_of(v + 12582912.0f) & 0xFFu;  // 1.5 * 2^23: the integer stands in the low bits
  }
  TERSOR_HOST_DEVICE static float decode(std::uint32_t code) {
    return static_cast<float>(static_cast<std::int8_t>(code)) / 64.0f;
  }
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
inline std::uint8_t mx_exponent(std::uint32_t absmax_bits, int emax) {
  if (absmax_bits == 0) return 0;
  // A subnormal has exponent field 0: its leading bit tells.
  const int log2 = absmax_bits >= 0x00800000u ? static_cast<int>(absmax_bits >> 23) - 127
                                              : std::bit_width(absmax_bits) - 150;
  return static_cast<std::uint8_t>(std::clamp(log2 - emax, -127, 127) + 127);
}

}  // namespace tersor::compressors
