// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/hadamard_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>

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

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX2
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));

// Strides below the width of a register: each lane adds its partner to itself, or subtracts itself
// from it in the upper half of a pair; a + b and a - b come out with the same bits as in the loop.
#if HWY_TARGET <= HWY_AVX3
inline Vector first_strides(Vector vector) {
  __m512 v = vector.raw;
  const auto step = [&](__m512 partner, __mmask16 upper) {
    v = _mm512_mask_sub_ps(_mm512_add_ps(partner, v), upper, partner, v);
  };
  step(_mm512_permute_ps(v, 0b10'11'00'01), 0xAAAA);
  step(_mm512_permute_ps(v, 0b01'00'11'10), 0xCCCC);
  step(_mm512_shuffle_f32x4(v, v, 0b10'11'00'01), 0xF0F0);
  step(_mm512_shuffle_f32x4(v, v, 0b01'00'11'10), 0xFF00);
  return Vector{v};
}
#else
inline Vector first_strides(Vector vector) {
  __m256 v = vector.raw;
  const __m256 sign1 = _mm256_castsi256_ps(
      _mm256_setr_epi32(0, INT32_MIN, 0, INT32_MIN, 0, INT32_MIN, 0, INT32_MIN));
  const __m256 sign2 = _mm256_castsi256_ps(
      _mm256_setr_epi32(0, 0, INT32_MIN, INT32_MIN, 0, 0, INT32_MIN, INT32_MIN));
  const __m256 sign4 = _mm256_castsi256_ps(
      _mm256_setr_epi32(0, 0, 0, 0, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN));
  v = _mm256_add_ps(_mm256_permute_ps(v, 0b10'11'00'01), _mm256_xor_ps(v, sign1));
  v = _mm256_add_ps(_mm256_permute_ps(v, 0b01'00'11'10), _mm256_xor_ps(v, sign2));
  return Vector{_mm256_add_ps(_mm256_permute2f128_ps(v, v, 1), _mm256_xor_ps(v, sign4))};
}
#endif

// kVectors registers' worth of elements, read once and written once. `before` and `after` may be
// null; the factor is left out where further strides follow.
template <int kVectors>
void in_registers(const float* x, const float* before, const float* after, float factor,
                  bool is_last, float* out) {
  const Floats d;
  Vector v[kVectors];
  for (int j = 0; j < kVectors; ++j) {
    v[j] = hn::LoadU(d, x + j * kLanes);
    if (before != nullptr) v[j] = hn::Mul(v[j], hn::LoadU(d, before + j * kLanes));
    v[j] = first_strides(v[j]);
  }
  for (int stride = 1; stride < kVectors; stride *= 2) {
    for (int low = 0; low < kVectors; ++low) {
      if ((low & stride) != 0) continue;
      const Vector a = v[low];
      const Vector b = v[low + stride];
      v[low] = hn::Add(a, b);
      v[low + stride] = hn::Sub(a, b);
    }
  }
  for (int j = 0; j < kVectors; ++j) {
    if (is_last) v[j] = hn::Mul(v[j], hn::Set(d, factor));
    if (is_last && after != nullptr) v[j] = hn::Mul(v[j], hn::LoadU(d, after + j * kLanes));
    hn::StoreU(v[j], d, out + j * kLanes);
  }
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

// float32(1/sqrt(n)) of a power of two: powers of two only shift the exponent of 1 or 1/sqrt(2).
inline float scale_of(std::int64_t n) {
  const int log2 = std::countr_zero(static_cast<std::uint64_t>(n));
  const float power = float_of(static_cast<std::uint32_t>(127 - log2 / 2) << 23);
  return log2 % 2 == 0 ? power : power * 0.70710678118654752440f;
}

void transform(const float* x, const float* before, const float* after, std::int64_t n,
               float* out) {
  const float factor = scale_of(n);
  std::int64_t stride = 1;
#if HWY_TARGET <= HWY_AVX2
  const std::int64_t at_once = std::min<std::int64_t>(n, 128);
  if (n >= kLanes) {
    const bool is_last = at_once == n;
    for (std::int64_t i = 0; i < n; i += at_once) {
      const float* first = before == nullptr ? nullptr : before + i;
      switch (at_once / kLanes) {
        case 1: in_registers<1>(x + i, first, after, factor, is_last, out + i); break;
        case 2: in_registers<2>(x + i, first, after, factor, is_last, out + i); break;
        case 4: in_registers<4>(x + i, first, after, factor, is_last, out + i); break;
        case 8: in_registers<8>(x + i, first, after, factor, is_last, out + i); break;
        default: in_registers<16>(x + i, first, after, factor, is_last, out + i);
      }
    }
    if (is_last) return;
    stride = at_once;
  }
#endif
  if (stride == 1)
    for (std::int64_t i = 0; i < n; ++i) out[i] = before == nullptr ? x[i] : x[i] * before[i];
  for (; stride < n; stride *= 2) stage(out, n, stride);
  for (std::int64_t i = 0; i < n; ++i) out[i] *= factor;
  if (after != nullptr)
    for (std::int64_t i = 0; i < n; ++i) out[i] *= after[i];
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
HWY_EXPORT(transform);
HWY_EXPORT(multiply);
HWY_EXPORT(canonical_nan);
void walsh_hadamard(float* x, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(transform)(x, nullptr, nullptr, n, x);
}
void signed_walsh_hadamard(const float* x, const float* signs, std::int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(transform)(x, signs, nullptr, n, out);
}
void walsh_hadamard_signed(const float* x, const float* signs, std::int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(transform)(x, nullptr, signs, n, out);
}
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
