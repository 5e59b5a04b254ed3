// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "compressors/api/device_table.hpp"
#include "compressors/api/hadamard.cuh"
#include "compressors/wrappers/hadamard/hadamard.hpp"

// One pass over the message, which lands in the workspace as float32: a warp keeps transforms of up
// to 256 values in registers and draws the signs of its columns once for several rows; larger ones
// go through a block's shared memory, and above 4,096 values through global memory as well.

namespace tersor::compressors {
namespace {

using namespace device;

/// What a warp of the small transforms does: 256 columns of `rows_of_warp` rows.
struct WarpWork {
  std::int64_t rows = 0;
  std::int64_t columns = 0;       ///< sub-tiles of a row
  std::int64_t rows_of_warp = 1;  ///< that share the signs

  __device__ __forceinline__ std::int64_t column() const { return warp() % columns; }
  __device__ __forceinline__ std::int64_t first_row() const {
    return warp() / columns * rows_of_warp;
  }
  __device__ __forceinline__ static std::int64_t warp() {
    return static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  }
};

/// The warp's 256 columns of one row.
struct WarpRow {
  std::int64_t first;      ///< element of the tensor
  std::int64_t left;       ///< elements from there to the end of the row
  std::uint32_t position;  ///< in the row, of the lane's octet
};

/// Calls visit(row, signs) for the warp's rows; all lanes call it.
template <class Visit>
__device__ __forceinline__ void for_each_row(const WarpWork& work, const RowTransforms& transforms,
                                             const Stream& stream, Visit visit) {
  const std::int64_t column = work.column() * kSubtile;
  const auto position =
      static_cast<std::uint32_t>(column) + 8 * octet_of_lane<true>(lane_of_thread());
  const OctetSigns signs(stream, position);
  for (std::int64_t i = 0; i < work.rows_of_warp; ++i) {
    const std::int64_t row = work.first_row() + i;
    if (row >= work.rows) return;
    visit(WarpRow{row * transforms.hidden + column, transforms.hidden - column, position}, signs);
  }
}

template <class In>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    turn_rows_kernel(const typename In::Storage* in, WarpWork work, RowTransforms transforms,
                     const __grid_constant__ Stream stream, float* out) {
  for_each_row(work, transforms, stream, [&](const WarpRow& row, const OctetSigns& signs) {
    float x[8];
    load_octet<In, true>(in + row.first, row.left, is_aligned_16(in + row.first), x);
    signs.flip(x);
    butterfly_octet<true>(x, row.position, transforms);
    scale_octet(x, row.position, transforms);
    store_octet<Float32>(out + row.first, row.left, is_aligned_16(out + row.first), x);
  });
}

/// `kTurns` false: only the signs are left to do.
template <class Out, bool kTurns>
__global__ void __launch_bounds__(kThreads, 3)
    turn_back_rows_kernel(const float* in, WarpWork work, RowTransforms transforms,
                          const __grid_constant__ Stream stream, bool is_accumulated,
                          typename Out::Storage* out) {
  for_each_row(work, transforms, stream, [&](const WarpRow& row, const OctetSigns& signs) {
    auto* const to = out + row.first;
    float x[8];
    float sum[8];
    load_octet<Float32>(in + row.first, row.left, is_aligned_16(in + row.first), x);
    if (is_accumulated) load_octet<Out, true>(to, row.left, is_aligned_16(to), sum);
    if constexpr (kTurns) {
      butterfly_octet<true>(x, row.position, transforms);
      scale_octet(x, row.position, transforms);
    }
    signs.flip(x);
#pragma unroll
    for (int j = 0; j < 8; ++j) x[j] = is_accumulated ? __fadd_rn(sum[j], x[j]) : x[j];
    store_octet<Out, true>(to, row.left, is_aligned_16(to), x);
  });
}

/// A block turns 4,096 values of one row, up to stride 2,048; larger transforms are not multiplied
/// yet.
template <class In, class Out, bool kSignsFirst>
__global__ void __launch_bounds__(kThreads, 3)
    turn_piece_kernel(const typename In::Storage* in, std::int64_t pieces, RowTransforms transforms,
                      const __grid_constant__ Stream stream, bool has_signs, bool is_accumulated,
                      typename Out::Storage* out) {
  TERSOR_SHARED_ARRAY(float4, quads, kPiece / 4);
  auto* values = reinterpret_cast<float*>(quads);
  const std::int64_t row = blockIdx.x / pieces;
  const std::int64_t column = (blockIdx.x - row * pieces) * kPiece;
  const auto first = static_cast<std::uint32_t>(column);
  const std::int64_t at = row * transforms.hidden + column;
  const unsigned octet = 8 * octet_of_lane<true>(lane_of_thread());
#pragma unroll 1
  for (int j = 0; j < kPieceOctets; ++j) {
    const unsigned subtile = (warp_of_thread() + j * kWarps) * kSubtile;
    const typename In::Storage* from = in + at + subtile;
    float x[8];
    load_octet<In, true>(from, transforms.hidden - column - subtile, is_aligned_16(from), x);
    if (kSignsFirst && has_signs) OctetSigns(stream, first + subtile + octet).flip(x);
    butterfly_octet<true>(x, first + subtile + octet, transforms);
    put_octet(values + subtile + octet, x);
  }
  butterfly_piece(values, first, transforms);
#pragma unroll 1
  for (int j = 0; j < kPieceOctets; ++j) {
    const unsigned subtile = (warp_of_thread() + j * kWarps) * kSubtile;
    const std::int64_t left = transforms.hidden - column - subtile;
    typename Out::Storage* to = out + at + subtile;
    float x[8];
    float sum[8];
    get_octet(values + subtile + octet, x);
    if (transforms.block <= kPiece) scale_octet(x, first + subtile + octet, transforms);
    if (!kSignsFirst && has_signs) OctetSigns(stream, first + subtile + octet).flip(x);
    if (is_accumulated) load_octet<Out, true>(to, left, is_aligned_16(to), sum);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = is_accumulated ? __fadd_rn(sum[i], x[i]) : x[i];
    store_octet<Out, true>(to, left, is_aligned_16(to), x);
  }
}

RowTransforms transforms_of(const Shape& shape, std::int64_t block) {
  if (shape.hidden > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported,
                "hadamard: rows of " + std::to_string(shape.hidden) + " values on a device");
  const auto hidden = static_cast<std::uint32_t>(shape.hidden);
  RowTransforms transforms{
      hidden, std::min(static_cast<std::uint32_t>(block), std::bit_floor(hidden)), false};
  transforms.are_octets_whole = transforms.block >= 8 && hidden % 8 == 0;
  return transforms;
}

WarpWork work_of(const Shape& shape) {
  constexpr std::int64_t kBusyWarps = 4096;  // enough for a large GPU
  WarpWork work{shape.rows(), (shape.hidden - 1) / kSubtile + 1, 1};
  work.rows_of_warp = std::clamp<std::int64_t>(work.rows * work.columns / kBusyWarps, 1, 16);
  return work;
}
unsigned grid_of(const WarpWork& work) {
  const std::int64_t warps = ((work.rows - 1) / work.rows_of_warp + 1) * work.columns;
  return transform_grid((warps - 1) / kWarps + 1, "hadamard");
}
std::int64_t pieces_of(const Shape& shape) { return (shape.hidden - 1) / kPiece + 1; }

void turn(const TensorView& in, std::int64_t block, const Stream& signs, float* out, void* stream) {
  const RowTransforms transforms = transforms_of(in.shape, block);
  with_type(in.dtype, [&]<class In>(In) {
    const auto* from = static_cast<const typename In::Storage*>(in.data);
    if (transforms.block <= kSubtile) {
      const WarpWork work = work_of(in.shape);
      TERSOR_LAUNCH(turn_rows_kernel<In>, grid_of(work), kThreads, 0, stream, from, work,
                    transforms, signs, out);
      return;
    }
    const std::int64_t pieces = pieces_of(in.shape);
    TERSOR_LAUNCH((turn_piece_kernel<In, Float32, true>),
                  transform_grid(pieces * in.shape.rows(), "hadamard"), kThreads, 0, stream, from,
                  pieces, transforms, signs, true, false, out);
  });
  launch_high_strides(out, in.shape.rows(), transforms.hidden, transforms, "hadamard", stream);
}

void turn_back(float* turned, const Shape& shape, std::int64_t block, const Stream& signs,
               const DecodeTarget& target, void* stream) {
  const RowTransforms transforms = transforms_of(shape, block);
  const WarpWork work = work_of(shape);
  const std::int64_t pieces = pieces_of(shape);
  const bool is_large = transforms.block > kPiece;
  if (is_large) {
    TERSOR_LAUNCH((turn_piece_kernel<Float32, Float32, false>),
                  transform_grid(pieces * shape.rows(), "hadamard"), kThreads, 0, stream, turned,
                  pieces, transforms, signs, false, false, turned);
    launch_high_strides(turned, shape.rows(), transforms.hidden, transforms, "hadamard", stream);
  }
  with_type(target.dtype, [&]<class Out>(Out) {
    auto* out = static_cast<typename Out::Storage*>(target.data);
    if (is_large)
      TERSOR_LAUNCH((turn_back_rows_kernel<Out, false>), grid_of(work), kThreads, 0, stream, turned,
                    work, transforms, signs, target.is_accumulated, out);
    else if (transforms.block <= kSubtile)
      TERSOR_LAUNCH((turn_back_rows_kernel<Out, true>), grid_of(work), kThreads, 0, stream, turned,
                    work, transforms, signs, target.is_accumulated, out);
    else
      TERSOR_LAUNCH((turn_piece_kernel<Float32, Out, false>),
                    transform_grid(pieces * shape.rows(), "hadamard"), kThreads, 0, stream, turned,
                    pieces, transforms, signs, true, target.is_accumulated, out);
  });
}

constexpr HadamardLaunchers kLaunchers{turn, turn_back};
const DeviceTable<HadamardLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
