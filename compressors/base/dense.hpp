// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// The little dense algebra that codecs need: float32 products with a fixed order of sums, so that
/// scalar and vector builds agree. Matrices are row-major.
namespace tersor::compressors::dense {

/// out[j] = sum over ascending i of x[i] * matrix[i][j]; matrix {rows, columns}.
void multiply_row(const float* x, const float* matrix, std::int64_t rows, std::int64_t columns,
                  float* out);

/// out[j] = sum over ascending i < rows of x[i] * diagonals[j - i], j < columns: `diagonals` points
/// at the one of j = i.
void multiply_toeplitz(const float* x, std::int64_t rows, const float* diagonals,
                       std::int64_t columns, float* out);

/// out[r*stride + t] = sum over i of x[t][i] * vectors[r][i], t < rows, r < count, by 32 lanes that
/// then fold; matrices {rows, length} and {count, length}.
void dot_rows(const float* x, std::int64_t rows, const float* vectors, std::int64_t count,
              std::int64_t length, std::int64_t stride, float* out);
/// For ascending t < rows: vectors[r][i] += factors[r*stride + t] * x[t*length + i], r < count,
/// i < width; rows of x and vectors are `length` apart.
void add_outer(const float* x, std::int64_t rows, const float* factors, std::int64_t stride,
               std::int64_t count, std::int64_t length, std::int64_t width, float* vectors);

}  // namespace tersor::compressors::dense
