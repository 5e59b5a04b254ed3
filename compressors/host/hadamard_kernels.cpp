// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/hadamard_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "compressors/host/kernels.hpp"
#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/hadamard_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What the last stage does besides its sums: one multiply by `factor`, and then this.
enum class Last : std::uint8_t { kNothing, kMiddle, kCanonical, kSigned, kSignedAdd };
struct Finish {
  float factor = 0;
  const float* signs = nullptr;
};

template <Last kLast>
inline void finish(float value, const Finish& how, std::int64_t i, float* out) {
  if (kLast != Last::kMiddle) value *= how.factor;
  if (kLast == Last::kCanonical) value = is_nan(value) ? float_of(kNan32) : value;
  if (kLast == Last::kSigned || kLast == Last::kSignedAdd) value *= how.signs[i];
  out[i] = kLast == Last::kSignedAdd ? out[i] + value : value;
}

#if HWY_TARGET <= HWY_AVX2
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));

template <Last kLast>
inline void finish(Vector v, const Finish& how, std::int64_t i, float* out) {
  const Floats d;
  if (kLast != Last::kMiddle) v = hn::Mul(v, hn::Set(d, how.factor));
  if (kLast == Last::kCanonical) v = hn::IfThenElse(hn::IsNaN(v), hn::Set(d, float_of(kNan32)), v);
  if (kLast == Last::kSigned || kLast == Last::kSignedAdd)
    v = hn::Mul(v, hn::LoadU(d, how.signs + i));
  if (kLast == Last::kSignedAdd) v = hn::Add(hn::LoadU(d, out + i), v);
  hn::StoreU(v, d, out + i);
}

// Strides below the width of a register: a lane becomes partner + lane, or partner - lane in the
// upper half of a pair. The product with +-1 is exact, so the fused step rounds as the sum does.
#if HWY_TARGET <= HWY_AVX3
inline Vector first_strides(Vector vector) {
  const auto signs = [](int upper) {
    return _mm512_mask_mov_ps(_mm512_set1_ps(1.0f), static_cast<__mmask16>(upper),
                              _mm512_set1_ps(-1.0f));
  };
  __m512 v = vector.raw;
  v = _mm512_fmadd_ps(v, signs(0xAAAA), _mm512_permute_ps(v, 0b10'11'00'01));
  v = _mm512_fmadd_ps(v, signs(0xCCCC), _mm512_permute_ps(v, 0b01'00'11'10));
  v = _mm512_fmadd_ps(v, signs(0xF0F0), _mm512_shuffle_f32x4(v, v, 0b10'11'00'01));
  return Vector{_mm512_fmadd_ps(v, signs(0xFF00), _mm512_shuffle_f32x4(v, v, 0b01'00'11'10))};
}
#else
inline Vector first_strides(Vector vector) {
  __m256 v = vector.raw;
  v = _mm256_fmadd_ps(v, _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1),
                      _mm256_permute_ps(v, 0b10'11'00'01));
  v = _mm256_fmadd_ps(v, _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1),
                      _mm256_permute_ps(v, 0b01'00'11'10));
  return Vector{_mm256_fmadd_ps(v, _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1),
                                _mm256_permute2f128_ps(v, v, 1))};
}
#endif

// Strides of 1, 2, .. registers.
template <int kVectors>
inline void register_strides(Vector* v) {
  for (int stride = 1; stride < kVectors; stride *= 2) {
    for (int low = 0; low < kVectors; ++low) {
      if ((low & stride) != 0) continue;
      const Vector a = v[low];
      const Vector b = v[low + stride];
      v[low] = hn::Add(a, b);
      v[low + stride] = hn::Sub(a, b);
    }
  }
}

// All strides of kVectors registers' worth of elements.
template <int kVectors, bool kSigns>
inline void rotated(const float* x, const float* signs, Vector* v) {
  const Floats d;
  for (int j = 0; j < kVectors; ++j) {
    v[j] = hn::LoadU(d, x + j * kLanes);
    if (kSigns) v[j] = hn::Mul(v[j], hn::LoadU(d, signs + j * kLanes));
    v[j] = first_strides(v[j]);
  }
  register_strides<kVectors>(v);
}

// A block of kVectors registers' worth of elements, read once and written once. More than eight
// registers do not fit beside the constants: the lower half then waits in the first cache.
template <int kVectors, bool kSigns, Last kLast>
inline void in_registers(const float* x, const float* signs, const Finish& how, std::int64_t at,
                         float* out) {
  const Floats d;
  constexpr int kHalf = kVectors > 8 ? kVectors / 2 : kVectors;
  Vector v[kHalf];
  rotated<kHalf, kSigns>(x, signs, v);
  if constexpr (kHalf == kVectors) {
    for (int j = 0; j < kVectors; ++j) finish<kLast>(v[j], how, at + j * kLanes, out);
  } else {
    constexpr std::int64_t kElements = kHalf * kLanes;
    alignas(64) float low[kElements];
    for (int j = 0; j < kHalf; ++j) hn::Store(v[j], d, low + j * kLanes);
    rotated<kHalf, kSigns>(x + kElements, signs + (kSigns ? kElements : 0), v);
    for (int j = 0; j < kHalf; ++j) {
      const Vector a = hn::Load(d, low + j * kLanes);
      finish<kLast>(hn::Add(a, v[j]), how, at + j * kLanes, out);
      finish<kLast>(hn::Sub(a, v[j]), how, at + kElements + j * kLanes, out);
    }
  }
}

// The blocks of `size` elements in [begin, end), whole ones.
template <bool kSigns, Last kLast>
void small_blocks(const float* x, const float* signs, std::int64_t size, std::int64_t begin,
                  std::int64_t end, const Finish& how, float* out) {
  const auto each = [&](auto vectors) {
    for (std::int64_t at = begin; at < end; at += size)
      in_registers<vectors, kSigns, kLast>(x + at, kSigns ? signs + at : nullptr, how, at, out);
  };
  switch (size / kLanes) {
    case 1: return each(std::integral_constant<int, 1>());
    case 2: return each(std::integral_constant<int, 2>());
    case 4: return each(std::integral_constant<int, 4>());
    case 8: return each(std::integral_constant<int, 8>());
    default: return each(std::integral_constant<int, 16>());
  }
}

// Strides stride, 2 stride, .. (kVectors / 2) stride of one block, in one pass over it; out may be
// x.
template <int kVectors, Last kLast>
void strided_pass(const float* x, std::int64_t n, std::int64_t stride, const Finish& how,
                  std::int64_t at, float* out) {
  const Floats d;
  for (std::int64_t block = 0; block < n; block += kVectors * stride) {
    for (std::int64_t i = block; i < block + stride; i += kLanes) {
      Vector v[kVectors];
      for (int j = 0; j < kVectors; ++j) v[j] = hn::LoadU(d, x + at + i + j * stride);
      register_strides<kVectors>(v);
      for (int j = 0; j < kVectors; ++j) finish<kLast>(v[j], how, at + i + j * stride, out);
    }
  }
}

template <bool kSigns, Last kLast>
void transform_vectors(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                       const Finish& how, float* work, float* out) {
  constexpr std::int64_t kAtOnce = 128;
  if (n <= kAtOnce) return small_blocks<kSigns, kLast>(x, signs, n, 0, n * count, how, out);
  for (std::int64_t at = 0; at < n * count; at += n) {
    small_blocks<kSigns, Last::kMiddle>(x, signs, kAtOnce, at, at + n, how, work);
    std::int64_t stride = kAtOnce;
    for (; n / stride > 8; stride *= 8)
      strided_pass<8, Last::kMiddle>(work, n, stride, how, at, work);
    switch (n / stride) {
      case 2: strided_pass<2, kLast>(work, n, stride, how, at, out); break;
      case 4: strided_pass<4, kLast>(work, n, stride, how, at, out); break;
      default: strided_pass<8, kLast>(work, n, stride, how, at, out);
    }
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

// `before` and `after` are signs; `work` holds the values between two passes over a block.
template <bool kSigns, Last kLast>
void transform(const float* x, const float* before, const float* after, std::int64_t n,
               std::int64_t count, float* work, float* out) {
  const Finish how{scale_of(n), after};
#if HWY_TARGET <= HWY_AVX2
  if (n >= kLanes) return transform_vectors<kSigns, kLast>(x, before, n, count, how, work, out);
#endif
  for (std::int64_t at = 0; at < n * count; at += n) {
    for (std::int64_t i = at; i < at + n; ++i) work[i] = kSigns ? x[i] * before[i] : x[i];
    for (std::int64_t stride = 1; stride < n; stride *= 2) stage(work + at, n, stride);
    for (std::int64_t i = at; i < at + n; ++i) finish<kLast>(work[i], how, i, out);
  }
}

void plain(float* x, std::int64_t n) {
  transform<false, Last::kNothing>(x, nullptr, nullptr, n, 1, x, x);
}
void with_signs(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                float* out) {
  transform<true, Last::kCanonical>(x, signs, nullptr, n, count, out, out);
}
void then_signs(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                float* out) {
  transform<false, Last::kSigned>(x, nullptr, signs, n, count, out, out);
}
void add_then_signs(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                    float* work, float* out) {
  transform<false, Last::kSignedAdd>(x, nullptr, signs, n, count, work, out);
}

void multiply(const float* x, const float* HWY_RESTRICT y, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = x[i] * y[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors {
namespace kernels {
HWY_EXPORT(plain);
HWY_EXPORT(with_signs);
HWY_EXPORT(then_signs);
HWY_EXPORT(add_then_signs);
HWY_EXPORT(multiply);
void walsh_hadamard(float* x, std::int64_t n) { HWY_DYNAMIC_DISPATCH(plain)(x, n); }
void signed_walsh_hadamard(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                           float* out) {
  HWY_DYNAMIC_DISPATCH(with_signs)(x, signs, n, count, out);
}
void walsh_hadamard_signed(const float* x, const float* signs, std::int64_t n, std::int64_t count,
                           float* out) {
  HWY_DYNAMIC_DISPATCH(then_signs)(x, signs, n, count, out);
}
void add_walsh_hadamard_signed(const float* x, const float* signs, std::int64_t n,
                               std::int64_t count, float* work, float* out) {
  HWY_DYNAMIC_DISPATCH(add_then_signs)(x, signs, n, count, work, out);
}
void multiply(const float* x, const float* y, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply)(x, y, count, out);
}
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
