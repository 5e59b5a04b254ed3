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

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::dense {
HWY_EXPORT(multiply_row);
HWY_EXPORT(multiply_toeplitz);
void multiply_row(const float* x, const float* matrix, std::int64_t rows, std::int64_t columns,
                  float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_row)(x, matrix, rows, columns, out);
}
void multiply_toeplitz(const float* x, std::int64_t rows, const float* diagonals,
                       std::int64_t columns, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_toeplitz)(x, rows, diagonals, columns, out);
}
}  // namespace tersor::compressors::dense
#endif  // HWY_ONCE
