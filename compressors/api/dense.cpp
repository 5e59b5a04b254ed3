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

inline float dot(const float* HWY_RESTRICT x, const float* HWY_RESTRICT y, std::int64_t length) {
  float lanes[32] = {};
  std::int64_t i = 0;
  for (; i + 32 <= length; i += 32) {
    for (int lane = 0; lane < 32; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
  }
  for (int lane = 0; i + lane < length; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
  for (int half = 16; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

void dot_rows(const float* x, const float* vectors, std::int64_t count, std::int64_t length,
              std::int64_t stride, float* out) {
  for (std::int64_t r = 0; r < count; ++r) out[r * stride] = dot(x, vectors + r * length, length);
}

void add_outer(const float* HWY_RESTRICT x, const float* HWY_RESTRICT factors, std::int64_t stride,
               std::int64_t count, std::int64_t length, float* HWY_RESTRICT vectors) {
  for (std::int64_t r = 0; r < count; ++r) {
    const float factor = factors[r * stride];
    float* HWY_RESTRICT v = vectors + r * length;
    for (std::int64_t i = 0; i < length; ++i) v[i] += factor * x[i];
  }
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
void add_outer(const float* x, const float* factors, std::int64_t stride, std::int64_t count,
               std::int64_t length, float* vectors) {
  HWY_DYNAMIC_DISPATCH(add_outer)(x, factors, stride, count, length, vectors);
}
}  // namespace tersor::compressors::dense
#endif  // HWY_ONCE
