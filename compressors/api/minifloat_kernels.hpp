// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "compressors/api/input.hpp"

/// Loops over contiguous elements of scaled small floats (minifloat.hpp).
namespace tersor::compressors::kernels {

enum class SmallFloat : std::uint8_t { kE4M3, kE5M2, kE2M3, kE3M2, kE2M1, kInt8 };

/// Bits of a code: 8, 8, 6, 6, 4, 8.
int width_of(SmallFloat format);
/// 448, 57,344, 7.5, 28, 6, 127/64
float largest_of(SmallFloat format);

/// codes[i] = x[i]/scale rounded to the format, 0 where the scale is 0. `scale` has one value per
/// element where is_per_element, else one for all. `is_bounded`: every x is finite and, divided by
/// the one scale, at most the largest value but for rounding.
void encode_small(SmallFloat format, Input x, std::int64_t count, const float* scale,
                  bool is_per_element, bool is_bounded, std::uint8_t* codes);
/// out[i] = (or +=) value of codes[i] * scale
void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool is_per_element, bool is_accumulated, float* out);

/// Blocks of 32 elements with a power of two each (OCP MX 1.0): exponents[b] = e + 127 with
/// e = clamp(floor(log2 of the finite absolute maximum) - emax, -127, 127), codes of x/2^e.
inline constexpr std::int64_t kMxBlock = 32;
void encode_mx(SmallFloat format, Input x, std::int64_t blocks, int emax, std::uint8_t* exponents,
               std::uint8_t* codes);
/// out = (or +=) value of the code * scale of its block
void decode_mx(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
               const float* scales, bool is_accumulated, float* out);
/// e + 127 (emax >= 0) for a block whose finite absolute maximum has these bits; 0 for a block of
/// zeros.
inline std::uint8_t mx_exponent(std::uint32_t absmax_bits, int emax) {
  if (absmax_bits == 0) return 0;
  // A subnormal has exponent field 0: its leading bit tells.
  const int log2 = absmax_bits >= 0x00800000u ? static_cast<int>(absmax_bits >> 23) - 127
                                              : std::bit_width(absmax_bits) - 150;
  return static_cast<std::uint8_t>(std::clamp(log2 - emax, -127, 127) + 127);
}

/// Blocks of 16 E2M1 codes with an E4M3 scale each (NVFP4), `t` the scale of the tensor.
inline constexpr std::int64_t kNvFp4Block = 16;
void encode_nvfp4(Input x, std::int64_t blocks, float t, std::uint8_t* scale_codes,
                  std::uint8_t* codes);
void decode_nvfp4(const std::uint8_t* codes, std::int64_t blocks, const float* scales,
                  bool is_accumulated, float* out);

}  // namespace tersor::compressors::kernels
