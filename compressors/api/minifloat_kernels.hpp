// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// Loops over contiguous elements of scaled small floats (minifloat.hpp).
namespace tersor::compressors::kernels {

enum class SmallFloat : std::uint8_t { kE4M3, kE5M2, kE2M3, kE3M2, kE2M1 };

/// Bits of a code: 8, 8, 6, 6, 4.
int width_of(SmallFloat format);
/// 448, 57,344, 7.5, 28, 6
float largest_of(SmallFloat format);

/// codes[i] = x[i]/scale rounded to the format, 0 where the scale is 0. `scale` has one value per
/// element where is_per_element, else one for all.
void encode_small(SmallFloat format, const float* x, std::int64_t count, const float* scale,
                  bool is_per_element, std::uint8_t* codes);
/// out[i] = (or +=) value of codes[i] * scale
void decode_small(SmallFloat format, const std::uint8_t* codes, std::int64_t count,
                  const float* scale, bool is_per_element, bool is_accumulated, float* out);

/// The 8-bit integers of MX: codes[i] = rne(64 x[i]/scale) clamped to +-127, two's complement.
void encode_mx_int8(const float* x, std::int64_t count, const float* scale, bool is_per_element,
                    std::uint8_t* codes);
/// out[i] = (or +=) (codes[i]/64) * scale
void decode_mx_int8(const std::uint8_t* codes, std::int64_t count, const float* scale,
                    bool is_per_element, bool is_accumulated, float* out);

}  // namespace tersor::compressors::kernels
