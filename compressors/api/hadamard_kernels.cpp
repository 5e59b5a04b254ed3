// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/hadamard_kernels.hpp"

#include <array>
#include <cmath>

#include "compressors/api/floats.hpp"
#include "compressors/api/kernels.hpp"
#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/api/hadamard_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2
// Strides 1, 2 and 4 inside one register: each lane adds its partner to itself, negated in the
// upper half of the pair; a + b and a - b come out with the same bits as in the loop.
inline __m256 first_strides(__m256 v) {
  const __m256 sign1 = _mm256_castsi256_ps(
      _mm256_setr_epi32(0, INT32_MIN, 0, INT32_MIN, 0, INT32_MIN, 0, INT32_MIN));
  const __m256 sign2 = _mm256_castsi256_ps(
      _mm256_setr_epi32(0, 0, INT32_MIN, INT32_MIN, 0, 0, INT32_MIN, INT32_MIN));
  const __m256 sign4 = _mm256_castsi256_ps(
      _mm256_setr_epi32(0, 0, 0, 0, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN));
  v = _mm256_add_ps(_mm256_permute_ps(v, 0b10'11'00'01), _mm256_xor_ps(v, sign1));
  v = _mm256_add_ps(_mm256_permute_ps(v, 0b01'00'11'10), _mm256_xor_ps(v, sign2));
  return _mm256_add_ps(_mm256_permute2f128_ps(v, v, 1), _mm256_xor_ps(v, sign4));
}
#endif

inline void stage(float* HWY_RESTRICT x, std::int64_t n, std::int64_t stride) {
  for (std::int64_t block = 0; block < n; block += 2 * stride) {
    float* HWY_RESTRICT low = x + block;
    float* HWY_RESTRICT high = low + stride;
    for (std::int64_t i = 0; i < stride; ++i) {
      const float a = low[i];
      const float b = high[i];
      low[i] = a + b;
      high[i] = a - b;
    }
  }
}

void walsh_hadamard(float* HWY_RESTRICT x, std::int64_t n) {
  std::int64_t stride = 1;
#if HWY_TARGET <= HWY_AVX2
  if (n >= 8) {
    for (std::int64_t i = 0; i < n; i += 8)
      _mm256_storeu_ps(x + i, first_strides(_mm256_loadu_ps(x + i)));
    stride = 8;
  }
#endif
  for (; stride < n; stride *= 2) stage(x, n, stride);
  const auto factor = static_cast<float>(1.0 / std::sqrt(static_cast<double>(n)));
  for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
}

void multiply(const float* x, const float* HWY_RESTRICT y, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = x[i] * y[i];
}

void canonical_nan(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = is_nan(x[i]) ? float_of(kNan32) : x[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors {
namespace kernels {
HWY_EXPORT(walsh_hadamard);
HWY_EXPORT(multiply);
HWY_EXPORT(canonical_nan);
void walsh_hadamard(float* x, std::int64_t n) { HWY_DYNAMIC_DISPATCH(walsh_hadamard)(x, n); }
void multiply(const float* x, const float* y, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply)(x, y, count, out);
}
void canonical_nan(float* x, std::int64_t count) { HWY_DYNAMIC_DISPATCH(canonical_nan)(x, count); }
}  // namespace kernels

void random_signs(const Context& context, Purpose purpose, std::span<float> signs) {
  const Stream stream = context.fixed_random(purpose);
  std::array<std::uint32_t, 1024> draws;
  const auto n = std::ssize(signs);
  for (std::int64_t begin = 0; begin < n; begin += std::ssize(draws)) {
    const std::int64_t count = std::min<std::int64_t>(std::ssize(draws), n - begin);
    kernels::fill_draw32(stream, static_cast<std::uint64_t>(begin), count, draws.data());
    for (std::int64_t i = 0; i < count; ++i)
      signs[static_cast<std::size_t>(begin + i)] =
          (draws[static_cast<std::size_t>(i)] >> 31) != 0 ? -1.0f : 1.0f;
  }
}

}  // namespace tersor::compressors
#endif  // HWY_ONCE
