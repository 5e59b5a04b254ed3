// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// signs[i] = -1 where bit 31 of the 32-bit draw of hidden position i is set, else 1: a stream
/// fixed over steps, of `purpose` (METHODS section 1, "RNG").
void random_signs(const Context& context, Purpose purpose, std::span<float> signs);

/// Orthonormal Walsh-Hadamard transforms, natural order: strides 1, 2, 4, .. with
/// (a, b) -> (a+b, a-b), then one multiply by float32(1/sqrt(n)). n is a power of two; a call takes
/// `count` blocks of n values, one behind the other, and `signs` has a value for each of them.
namespace kernels {

/// One block, in place.
void walsh_hadamard(float* x, std::int64_t n);
/// out = the transforms of x[i] * signs[i], NaN canonical; out may be x.
void signed_walsh_hadamard(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                           float* out);
/// out[i] = signs[i] * element i of the transforms of x; out may be x.
void walsh_hadamard_signed(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                           float* out);
/// out[i] += signs[i] * element i of the transforms of x; `work` has room for them, and may be x.
void add_walsh_hadamard_signed(const float* x, const float* signs, std::int64_t n,
                               std::int64_t count, float* work, float* out);
/// out[i] = x[i] * y[i]; out may be x.
void multiply(const float* x, const float* y, std::int64_t count, float* out);

}  // namespace kernels
}  // namespace tersor::compressors
