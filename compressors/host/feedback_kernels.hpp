// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// Loops of codecs that keep floats between messages. A non-finite element is stored as 0.
namespace tersor::compressors::kernels {

/// x[i] += state[i]
void add_state(float* x, const float* state, std::int64_t count);
/// x[i] -= state[i]
void subtract_state(float* x, const float* state, std::int64_t count);
/// state[i] = a[i] - b[i], or 0 where that is not finite
void store_difference(const float* a, const float* b, std::int64_t count, float* state);
/// x[i] += state[i]; state[i] = x[i], or 0 where that is not finite
void advance_state(float* x, std::int64_t count, float* state);
/// state[i] = x[i], or 0 where it is not finite; state may be x
void store_finite(const float* x, std::int64_t count, float* state);

}  // namespace tersor::compressors::kernels
