// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/dense.hpp"

#include <algorithm>

#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/api/dense.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::dense {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void multiply_row(const float* HWY_RESTRICT x, const float* HWY_RESTRICT matrix, std::int64_t rows,
                  std::int64_t columns, float* HWY_RESTRICT out) {
  std::fill(out, out + columns, 0.0f);
  std::int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const float* HWY_RESTRICT m = matrix + i * columns;
    const float x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
    for (std::int64_t j = 0; j < columns; ++j)
      out[j] = (((out[j] + x0 * m[j]) + x1 * m[columns + j]) + x2 * m[2 * columns + j]) +
               x3 * m[3 * columns + j];
  }
  for (; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) out[j] += x[i] * matrix[i * columns + j];
  }
}

void multiply_toeplitz(const float* HWY_RESTRICT x, std::int64_t rows,
                       const float* HWY_RESTRICT diagonals, std::int64_t columns,
                       float* HWY_RESTRICT out) {
  std::fill(out, out + columns, 0.0f);
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* HWY_RESTRICT d = diagonals - i;
    const float value = x[i];
    for (std::int64_t j = 0; j < columns; ++j) out[j] += d[j] * value;
  }
}

constexpr std::int64_t kDotLanes = 32;

inline float folded(float* lanes) {
  for (std::int64_t half = kDotLanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

#if HWY_TARGET <= HWY_AVX2
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
#endif

// Dot products with kCount vectors at once, which share the loads of x and wait for nothing. What
// stands behind x is fetched: it is the next row.
template <int kCount>
inline void dots(const float* HWY_RESTRICT x, const float* HWY_RESTRICT vectors,
                 std::int64_t length, std::int64_t stride, float* HWY_RESTRICT out) {
  alignas(64) float lanes[kCount][kDotLanes] = {};
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const Floats d;
  constexpr int kParts = static_cast<int>(kDotLanes / kLanes);
  Vector sums[kCount][kParts];
  for (int r = 0; r < kCount; ++r)
    for (int part = 0; part < kParts; ++part) sums[r][part] = hn::Zero(d);
  for (; i + kDotLanes <= length; i += kDotLanes) {
    for (int part = 0; part < kParts; ++part) {
      const Vector value = hn::LoadU(d, x + i + part * kLanes);
      if (part * kLanes % 16 == 0) __builtin_prefetch(x + length + i + part * kLanes);
      for (int r = 0; r < kCount; ++r)
        sums[r][part] = hn::Add(
            sums[r][part], hn::Mul(value, hn::LoadU(d, vectors + r * length + i + part * kLanes)));
    }
  }
  for (int r = 0; r < kCount; ++r)
    for (int part = 0; part < kParts; ++part) hn::Store(sums[r][part], d, lanes[r] + part * kLanes);
#else
  for (; i + kDotLanes <= length; i += kDotLanes)
    for (int r = 0; r < kCount; ++r)
      for (std::int64_t lane = 0; lane < kDotLanes; ++lane)
        lanes[r][lane] += x[i + lane] * vectors[r * length + i + lane];
#endif
  for (int r = 0; r < kCount; ++r) {
    for (std::int64_t lane = 0; i + lane < length; ++lane)
      lanes[r][lane] += x[i + lane] * vectors[r * length + i + lane];
    out[r * stride] = folded(lanes[r]);
  }
}

void dot_rows(const float* x, const float* vectors, std::int64_t count, std::int64_t length,
              std::int64_t stride, float* out) {
  constexpr std::int64_t kAtOnce = HWY_TARGET <= HWY_AVX3 ? 4 : 2;  // as the registers allow
  std::int64_t r = 0;
  for (; r + kAtOnce <= count; r += kAtOnce)
    dots<kAtOnce>(x, vectors + r * length, length, stride, out + r * stride);
  for (; r < count; ++r) dots<1>(x, vectors + r * length, length, stride, out + r * stride);
}

// kRows rows of x at once: an element of a vector is read and written once for all of them.
// Meanwhile `next` is fetched.
template <int kRows>
inline void add_rows(const float* HWY_RESTRICT x, const float* HWY_RESTRICT factors,
                     std::int64_t length, [[maybe_unused]] const float* next,
                     float* HWY_RESTRICT vector) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const Floats d;
  Vector factor[kRows];
  for (int t = 0; t < kRows; ++t) factor[t] = hn::Set(d, factors[t]);
  for (; i + kLanes <= length; i += kLanes) {
    __builtin_prefetch(next + i, 0, 2);
    Vector sum = hn::LoadU(d, vector + i);
    for (int t = 0; t < kRows; ++t)
      sum = hn::Add(sum, hn::Mul(factor[t], hn::LoadU(d, x + t * length + i)));
    hn::StoreU(sum, d, vector + i);
  }
#endif
  for (; i < length; ++i) {
    float sum = vector[i];
    for (int t = 0; t < kRows; ++t) sum += factors[t] * x[t * length + i];
    vector[i] = sum;
  }
}

void add_outer(const float* x, std::int64_t rows, const float* factors, std::int64_t stride,
               std::int64_t count, std::int64_t length, float* vectors) {
  constexpr std::int64_t kAtOnce = 4;
  std::int64_t t = 0;
  for (; t + kAtOnce <= rows; t += kAtOnce)
    for (std::int64_t r = 0; r < count; ++r)
      add_rows<kAtOnce>(x + t * length, factors + r * stride + t, length,
                        x + (t + kAtOnce + r % kAtOnce) * length, vectors + r * length);
  for (; t < rows; ++t)
    for (std::int64_t r = 0; r < count; ++r)
      add_rows<1>(x + t * length, factors + r * stride + t, length, x + (t + 1) * length,
                  vectors + r * length);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::dense {
HWY_EXPORT(multiply_row);
HWY_EXPORT(multiply_toeplitz);
HWY_EXPORT(dot_rows);
HWY_EXPORT(add_outer);
void multiply_row(const float* x, const float* matrix, std::int64_t rows, std::int64_t columns,
                  float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_row)(x, matrix, rows, columns, out);
}
void multiply_toeplitz(const float* x, std::int64_t rows, const float* diagonals,
                       std::int64_t columns, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_toeplitz)(x, rows, diagonals, columns, out);
}
void dot_rows(const float* x, const float* vectors, std::int64_t count, std::int64_t length,
              std::int64_t stride, float* out) {
  HWY_DYNAMIC_DISPATCH(dot_rows)(x, vectors, count, length, stride, out);
}
void add_outer(const float* x, std::int64_t rows, const float* factors, std::int64_t stride,
               std::int64_t count, std::int64_t length, float* vectors) {
  HWY_DYNAMIC_DISPATCH(add_outer)(x, rows, factors, stride, count, length, vectors);
}
}  // namespace tersor::compressors::dense
#endif  // HWY_ONCE
