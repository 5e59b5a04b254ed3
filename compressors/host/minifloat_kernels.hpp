// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "compressors/host/input.hpp"
#include "compressors/wire/minifloat.hpp"

/// Loops over contiguous elements of scaled small floats (minifloat.hpp).
namespace tersor::compressors::kernels {

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
void encode_mx(SmallFloat format, Input x, std::int64_t blocks, int emax, std::uint8_t* exponents,
               std::uint8_t* codes);
/// out = (or +=) value of the code * scale of its block
void decode_mx(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
               const float* scales, bool is_accumulated, float* out);
/// Blocks of 16 E2M1 codes with an E4M3 scale each (NVFP4), `t` the scale of the tensor.
void encode_nvfp4(Input x, std::int64_t blocks, float t, std::uint8_t* scale_codes,
                  std::uint8_t* codes);
void decode_nvfp4(const std::uint8_t* codes, std::int64_t blocks, const float* scales,
                  bool is_accumulated, float* out);

}  // namespace tersor::compressors::kernels
