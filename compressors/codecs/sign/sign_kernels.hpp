// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace tersor::compressors::kernels {

/// Bit i of out = sign bit of x[i], 0 for a NaN; writes ceil(count/8) bytes.
void gather_signs(const float* x, std::int64_t count, std::byte* out);
/// out[i] = (or +=) scale with its sign flipped where bit first_bit + i of `bits` is set. `scale`
/// has one value per element where is_per_element, else one for all.
void apply_signs(const std::byte* bits, std::int64_t first_bit, std::int64_t count,
                 const float* scale, bool is_per_element, bool is_accumulated, float* out);

}  // namespace tersor::compressors::kernels
