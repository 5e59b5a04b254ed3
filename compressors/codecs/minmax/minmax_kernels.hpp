// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "compressors/host/input.hpp"

/// Loops of `minmax` over contiguous elements. The arrays have one value per element where
/// `is_per_element`, else one for all.
namespace tersor::compressors::kernels {

struct MinMaxLoop {
  const float* low = nullptr;     ///< smallest value of the scope
  const float* high = nullptr;    ///< largest value; only read where a range overflows
  const float* base = nullptr;    ///< low * factor
  const float* width = nullptr;   ///< high * factor - low * factor
  const float* factor = nullptr;  ///< 0.5 where high - low overflows, else 1
  bool is_per_element = false;
  bool has_overflow = false;             ///< some factor is 0.5
  bool is_finite = false;                ///< every element that these limits come from is finite
  int top = 255;                         ///< 2^bits - 1
  const std::uint16_t* draws = nullptr;  ///< one per element: stochastic rounding; null: nearest
};

/// codes[i] = clip(round((x[i]*factor - base)/width * top)), 0 where width is 0; NaN counts as 0.
void minmax_encode(Input x, std::int64_t count, const MinMaxLoop& loop, std::uint8_t* codes);
/// out[i] = base + (codes[i]/top) * width, added to out where `is_accumulated`.
void minmax_decode(const std::uint8_t* codes, std::int64_t count, const MinMaxLoop& loop,
                   bool is_accumulated, float* out);

}  // namespace tersor::compressors::kernels
