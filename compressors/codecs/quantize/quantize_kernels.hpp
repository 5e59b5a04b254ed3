// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "compressors/host/input.hpp"

/// Loops of `quantize` over contiguous elements. A divisor or step array has one value per element
/// where `is_per_element`, else one for all.
namespace tersor::compressors::kernels {

struct QuantizeLoop {
  const float* divisor = nullptr;
  const float* inverse = nullptr;  ///< 1/divisor, for rounding to nearest of a float32 quotient
  bool is_per_element = false;
  bool is_bounded = false;               ///< x is finite and at most twice the divisor
  int half = 128;                        ///< 2^(bits-1)
  bool is_quotient_float16 = false;      ///< variant=bian, float16 input
  const std::uint16_t* draws = nullptr;  ///< one per element: stochastic rounding; null: nearest
};

/// codes[i] = clip(round(x[i]/divisor * half)) + half; NaN counts as 0.
void quantize(Input x, std::int64_t count, const QuantizeLoop& loop, std::uint8_t* codes);

struct DequantizeLoop {
  const float* step = nullptr;  ///< scale / half
  bool is_per_element = false;
  int half = 128;
  bool is_float16 = false;      ///< variant=bian: round the product to float16
  bool is_accumulated = false;  ///< add to out
};

/// out[i] = (codes[i] - half) * step
void dequantize(const std::uint8_t* codes, std::int64_t count, const DequantizeLoop& loop,
                float* out);

}  // namespace tersor::compressors::kernels
