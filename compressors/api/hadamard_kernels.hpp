// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// signs[i] = -1 where bit 31 of the 32-bit draw of hidden position i is set, else 1: a stream
/// fixed over steps, of `purpose` (METHODS section 1, "RNG").
void random_signs(const Context& context, Purpose purpose, std::span<float> signs);

namespace kernels {

/// Orthonormal Walsh-Hadamard transform in place, natural order: strides 1, 2, 4, .. with
/// (a, b) -> (a+b, a-b), then one multiply by float32(1/sqrt(n)). n is a power of two.
void walsh_hadamard(float* x, std::int64_t n);
/// out = the transform of x[i] * signs[i], or signs[i] times the transform of x; out may be x.
void signed_walsh_hadamard(const float* x, const float* signs, std::int64_t n, float* out);
void walsh_hadamard_signed(const float* x, const float* signs, std::int64_t n, float* out);
/// out[i] = x[i] * y[i]; out may be x.
void multiply(const float* x, const float* y, std::int64_t count, float* out);
/// NaN becomes the canonical one, in place.
void canonical_nan(float* x, std::int64_t count);

}  // namespace kernels
}  // namespace tersor::compressors
