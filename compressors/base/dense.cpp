// SPDX-License-Identifier: Apache-2.0
#include "compressors/base/dense.hpp"

#include <algorithm>

#include "compressors/host/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/base/dense.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/host/lanes.inc"

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

constexpr int kDotLanes = 32;

#if HWY_TARGET <= HWY_AVX2
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using kernels::HWY_NAMESPACE::in_register;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int kParts = kDotLanes / kLanes;

// Sums, halves onto halves, which leaves the order of folded() below.
template <class D>
HWY_INLINE float folded(D d, hn::Vec<D> lanes) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(lanes);
  } else {
    const hn::Half<D> half;
    return folded(half, hn::Add(hn::LowerHalf(half, lanes), hn::UpperHalf(half, lanes)));
  }
}
#endif

inline float folded(float* lanes) {
  for (int half = kDotLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// Dot products of kRows rows with kCount vectors, which share the loads and wait for nothing. What
// comes behind the rows is fetched: it is the next rows.
template <int kRows, int kCount>
HWY_INLINE void dots(const float* HWY_RESTRICT x, const float* HWY_RESTRICT vectors,
                     std::int64_t length, std::int64_t stride, float* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const Floats d;
  Vector sums[kRows][kCount][kParts];
  for (auto& of_row : sums)
    for (auto& of_vector : of_row)
      for (Vector& part : of_vector) part = hn::Zero(d);
  for (; i + kDotLanes <= length; i += kDotLanes) {
    for (int part = 0; part < kParts; ++part) {
      const float* const at = x + i + part * kLanes;
      Vector values[kRows];
      for (int t = 0; t < kRows; ++t) {
        values[t] = in_register(hn::LoadU(d, at + t * length));
        if (part * kLanes % 16 == 0) __builtin_prefetch(at + (t + kRows) * length, 0, 2);
      }
      for (int r = 0; r < kCount; ++r) {
        Vector vector = hn::LoadU(d, vectors + r * length + i + part * kLanes);
        if constexpr (kRows > 1) vector = in_register(vector);
        for (int t = 0; t < kRows; ++t)
          sums[t][r][part] = hn::Add(sums[t][r][part], hn::Mul(values[t], vector));
      }
    }
  }
  if (i == length) {
    for (int t = 0; t < kRows; ++t) {
      for (int r = 0; r < kCount; ++r) {
        Vector sum[kParts];
        for (int part = 0; part < kParts; ++part) sum[part] = sums[t][r][part];
        for (int half = kParts / 2; half > 0; half /= 2)
          for (int part = 0; part < half; ++part) sum[part] = hn::Add(sum[part], sum[part + half]);
        out[r * stride + t] = folded(d, sum[0]);
      }
    }
    return;
  }
#endif
  for (int t = 0; t < kRows; ++t) {
    const float* const row = x + t * length;
    for (int r = 0; r < kCount; ++r) {
      const float* const vector = vectors + r * length;
      alignas(64) float lanes[kDotLanes] = {};
#if HWY_TARGET <= HWY_AVX2
      for (int part = 0; part < kParts; ++part)
        hn::Store(sums[t][r][part], d, lanes + part * kLanes);
#endif
      for (std::int64_t j = i; j < length; ++j) lanes[j % kDotLanes] += row[j] * vector[j];
      out[r * stride + t] = folded(lanes);
    }
  }
}

template <int kRows, int kCount>
void dots_of_rows(const float* x, const float* vectors, std::int64_t count, std::int64_t length,
                  std::int64_t stride, float* out) {
  std::int64_t r = 0;
  for (; r + kCount <= count; r += kCount)
    dots<kRows, kCount>(x, vectors + r * length, length, stride, out + r * stride);
  for (; r < count; ++r) dots<kRows, 1>(x, vectors + r * length, length, stride, out + r * stride);
}

void dot_rows(const float* x, std::int64_t rows, const float* vectors, std::int64_t count,
              std::int64_t length, std::int64_t stride, float* out) {
  // As the registers allow.
  constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 2 : 1;
  constexpr int kCount = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
  std::int64_t t = 0;
  for (; t + kRows <= rows; t += kRows)
    dots_of_rows<kRows, kCount>(x + t * length, vectors, count, length, stride, out + t);
  for (; t < rows; ++t)
    dots_of_rows<1, kCount>(x + t * length, vectors, count, length, stride, out + t);
}

// kRows rows of x and kCount vectors at once: an element of a vector is read and written once for
// all of the rows, one of a row read once for all of the vectors. Meanwhile the next rows are
// fetched.
template <int kRows, int kCount>
HWY_INLINE void add_rows(const float* HWY_RESTRICT x, const float* HWY_RESTRICT factors,
                         std::int64_t stride, std::int64_t length, std::int64_t width,
                         float* HWY_RESTRICT vectors) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const Floats d;
  Vector factor[kCount][kRows];
  for (int r = 0; r < kCount; ++r)
    for (int t = 0; t < kRows; ++t) factor[r][t] = hn::Set(d, factors[r * stride + t]);
  for (; i + kLanes <= width; i += kLanes) {
    Vector values[kRows];
    for (int t = 0; t < kRows; ++t) {
      values[t] = in_register(hn::LoadU(d, x + t * length + i));
      __builtin_prefetch(x + (t + kRows) * length + i, 0, 2);
    }
    for (int r = 0; r < kCount; ++r) {
      Vector sum = hn::LoadU(d, vectors + r * length + i);
      for (int t = 0; t < kRows; ++t) sum = hn::Add(sum, hn::Mul(factor[r][t], values[t]));
      hn::StoreU(sum, d, vectors + r * length + i);
    }
  }
#endif
  for (; i < width; ++i) {
    for (int r = 0; r < kCount; ++r) {
      float sum = vectors[r * length + i];
      for (int t = 0; t < kRows; ++t) sum += factors[r * stride + t] * x[t * length + i];
      vectors[r * length + i] = sum;
    }
  }
}

template <int kRows>
void add_to_vectors(const float* x, const float* factors, std::int64_t stride, std::int64_t count,
                    std::int64_t length, std::int64_t width, float* vectors) {
  constexpr int kCount = HWY_TARGET <= HWY_AVX3 ? 4 : 2;  // as the registers allow
  std::int64_t r = 0;
  for (; r + kCount <= count; r += kCount)
    add_rows<kRows, kCount>(x, factors + r * stride, stride, length, width, vectors + r * length);
  for (; r < count; ++r)
    add_rows<kRows, 1>(x, factors + r * stride, stride, length, width, vectors + r * length);
}

void add_outer(const float* x, std::int64_t rows, const float* factors, std::int64_t stride,
               std::int64_t count, std::int64_t length, std::int64_t width, float* vectors) {
  constexpr std::int64_t kAtOnce = 4;
  std::int64_t t = 0;
  for (; t + kAtOnce <= rows; t += kAtOnce)
    add_to_vectors<kAtOnce>(x + t * length, factors + t, stride, count, length, width, vectors);
  for (; t < rows; ++t)
    add_to_vectors<1>(x + t * length, factors + t, stride, count, length, width, vectors);
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
void dot_rows(const float* x, std::int64_t rows, const float* vectors, std::int64_t count,
              std::int64_t length, std::int64_t stride, float* out) {
  HWY_DYNAMIC_DISPATCH(dot_rows)(x, rows, vectors, count, length, stride, out);
}
void add_outer(const float* x, std::int64_t rows, const float* factors, std::int64_t stride,
               std::int64_t count, std::int64_t length, std::int64_t width, float* vectors) {
  HWY_DYNAMIC_DISPATCH(add_outer)(x, rows, factors, stride, count, length, width, vectors);
}
}  // namespace tersor::compressors::dense
#endif  // HWY_ONCE
