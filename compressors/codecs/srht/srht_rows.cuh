// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/codecs/srht/srht.hpp"
#include "compressors/device/hadamard.cuh"

/// Rows of srht padded to a power of two: read, written, and their signs.
namespace tersor::compressors::device {

/// What the kernels need of a plan.
struct RowPlan {
  std::int64_t rows = 0;
  std::uint32_t hidden = 0;
  std::uint32_t size = 0;  ///< a power of two
  std::uint32_t dim = 0;
  float factor = 0;
  Stream signs;

  __device__ __forceinline__ std::uint32_t row(std::uint32_t at) const { return at / size; }
  __device__ __forceinline__ std::uint32_t column(std::uint32_t at) const {
    return at & (size - 1);
  }
};

/// Eight values from one row, of which `left` are there; the others are 0.
template <class T>
__device__ __forceinline__ void load_eight(const typename T::Storage* from, std::int64_t left,
                                           float* x) {
  if (left >= 8 && is_aligned_16(from)) {
    if constexpr (sizeof(typename T::Storage) == 4)
      get_thread_tile(from, x);
    else
      unpack_words<T>(load_vector(reinterpret_cast<const uint4*>(from)), x);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = i < left ? T::widen(from[i]) : 0.0f;
}
template <class T>
__device__ __forceinline__ void store_eight(std::byte* to, std::int64_t left, const float* x) {
  constexpr int kItem = sizeof(typename T::Storage);
  if (left >= 8 && is_aligned_16(to)) {
    if constexpr (kItem == 4) {
      float canonical[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) canonical[i] = T::round(x[i]);
      put_thread_tile(reinterpret_cast<float*>(to), canonical);
    } else {
      store_vector(reinterpret_cast<uint4*>(to), pack_words<T>(x));
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i >= left) continue;
    if constexpr (kItem == 4)
      store_bytes(to + kItem * i, bits_of(T::round(x[i])));
    else
      store_bytes(to + kItem * i, T::round(x[i]));
  }
}
template <class T>
__device__ __forceinline__ float load_item(const std::byte* payload, std::int64_t i) {
  if constexpr (sizeof(typename T::Storage) == 4)
    return float_of(load_bytes<std::uint32_t>(payload + 4 * i));
  else
    return T::widen(load_bytes<std::uint16_t>(payload + 2 * i));
}

/// Thread tile `at` of the padded rows from `row`: values of the tensor and 0 behind them, not
/// signed yet. Rows shorter than a thread tile share it.
template <class In>
__device__ __forceinline__ void load_padded(const typename In::Storage* in, const RowPlan& plan,
                                            std::int64_t row, std::uint32_t at, float* x) {
  if (plan.size >= 8) {
    const std::int64_t r = row + plan.row(at);
    const std::uint32_t column = plan.column(at);
    const std::int64_t left = r < plan.rows ? static_cast<std::int64_t>(plan.hidden) - column : 0;
    load_eight<In>(in + r * plan.hidden + column, left, x);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t r = row + plan.row(at + i);
    const std::uint32_t column = plan.column(at + i);
    const bool is_there = r < plan.rows && column < plan.hidden;
    x[i] = is_there ? In::widen(in[r * plan.hidden + column]) : 0.0f;
  }
}

/// The reverse, rounded to Out.
template <class Out>
__device__ __forceinline__ void store_padded(typename Out::Storage* out, const RowPlan& plan,
                                             std::int64_t row, std::uint32_t at, const float* x) {
  constexpr int kItem = sizeof(typename Out::Storage);
  if (plan.size >= 8) {
    const std::int64_t r = row + plan.row(at);
    const std::uint32_t column = plan.column(at);
    if (r >= plan.rows) return;
    store_eight<Out>(reinterpret_cast<std::byte*>(out) + (r * plan.hidden + column) * kItem,
                     static_cast<std::int64_t>(plan.hidden) - column, x);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t r = row + plan.row(at + i);
    const std::uint32_t column = plan.column(at + i);
    if (r < plan.rows && column < plan.hidden) out[r * plan.hidden + column] = Out::round(x[i]);
  }
}

/// Turns the signs of a thread tile of padded rows; the padding stays +0, as on the CPU.
__device__ __forceinline__ void flip_padded(const RowPlan& plan, std::uint32_t at, float* x) {
  const ThreadTileSigns signs(plan.signs, plan.size >= 8 ? plan.column(at) : 0);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t column = plan.column(at + i);
    const std::uint32_t bit = plan.size >= 8 ? i : column;
    x[i] = float_of(bits_of(x[i]) ^ (column < plan.hidden ? signs.bits >> bit << 31 : 0u));
  }
}

}  // namespace tersor::compressors::device
