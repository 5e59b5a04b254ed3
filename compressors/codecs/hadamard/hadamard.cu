// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "compressors/codecs/hadamard/hadamard.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/encode_sources.cuh"
#include "compressors/device/hadamard.cuh"

// One pass over the message, which lands in the workspace as float32: a warp keeps transforms of up
// to 256 values in registers and draws the signs of its columns once for several rows; larger ones
// go through a block's shared memory, and above 4,096 values through global memory as well. Around
// it a wrapper's state (encode_sources.cuh) is read by the rotation, and read and written by its
// inverse:
//
//   x, feedback --rotate--> rotated --inner encode--> payload
//                                   payload --inner decode--> rotated --inverse--> feedback

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
  std::uint32_t position;  ///< in the row, of the lane's thread tile
};

/// Calls visit(row, signs) for the warp's rows; all lanes call it.
template <class Visit>
__device__ __forceinline__ void for_each_row(const WarpWork& work, const RowTransforms& transforms,
                                             const Stream& stream, Visit visit) {
  const std::int64_t column = work.column() * kSubtile;
  const auto position =
      static_cast<std::uint32_t>(column) + 8 * thread_tile_of_lane<true>(lane_of_thread());
  const ThreadTileSigns signs(stream, position);
  for (std::int64_t i = 0; i < work.rows_of_warp; ++i) {
    const std::int64_t row = work.first_row() + i;
    if (row >= work.rows) return;
    visit(WarpRow{row * transforms.hidden + column, transforms.hidden - column, position}, signs);
  }
}

/// Where rotated values go: to an array, perhaps added to what is there. All lanes call load()
/// before store().
template <class Out>
struct Sink {
  struct Base {
    float values[8];
  };
  typename Out::Storage* out;
  bool is_accumulated;

  __device__ __forceinline__ void load(std::int64_t at, std::int64_t count, Base& base) const {
    if (is_accumulated)
      load_thread_tile<Out, true>(out + at, count, is_aligned_16(out + at), base.values);
  }
  __device__ __forceinline__ void store(std::int64_t at, std::int64_t count, const Base& base,
                                        float* x) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = is_accumulated ? __fadd_rn(base.values[i], x[i]) : x[i];
    store_thread_tile<Out, true>(out + at, count, is_aligned_16(out + at), x);
  }
};

/// To the feedback array, to whose base they are added.
template <class In>
struct Sink<WithFeedback<In>> {
  using From = Source<WithFeedback<In>>;
  using Base = typename From::Base;
  FeedbackTensor<In> tensor;

  __device__ __forceinline__ void load(std::int64_t at, std::int64_t count, Base& base) const {
    float x[8];
    From::load_paired(tensor + at, count, x, base);
  }
  __device__ __forceinline__ void store(std::int64_t at, std::int64_t count, Base& base,
                                        const float* x) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) base.values[i] = __fadd_rn(base.values[i], x[i]);
    From::store(tensor + at, count, From::alignment(tensor + at), base);
  }
};

template <class In>
__global__ void __launch_bounds__(kThreads,
                                  Source<In>::kHasFeedback ? kEncodingBlocks : kResidentBlocks)
    rotate_rows_kernel(typename Source<In>::Tensor in, WarpWork work, RowTransforms transforms,
                       const __grid_constant__ Stream stream, float* out) {
  for_each_row(work, transforms, stream, [&](const WarpRow& row, const ThreadTileSigns& signs) {
    float x[8];
    typename Source<In>::Base base;
    Source<In>::load_paired(in + row.first, row.left, x, base);
    signs.flip(x);
    butterfly_thread_tile<true>(x, row.position, transforms);
    scale_thread_tile(x, row.position, transforms);
    store_thread_tile<Float32>(out + row.first, row.left, is_aligned_16(out + row.first), x);
  });
}

/// `kRotates` false: only the signs are left to do.
template <class Out, bool kRotates>
__global__ void __launch_bounds__(kThreads, 3)
    inverse_rotate_rows_kernel(const float* in, WarpWork work, RowTransforms transforms,
                               const __grid_constant__ Stream stream, Sink<Out> out) {
  for_each_row(work, transforms, stream, [&](const WarpRow& row, const ThreadTileSigns& signs) {
    float x[8];
    typename Sink<Out>::Base base;
    load_thread_tile<Float32>(in + row.first, row.left, is_aligned_16(in + row.first), x);
    out.load(row.first, row.left, base);
    if constexpr (kRotates) {
      butterfly_thread_tile<true>(x, row.position, transforms);
      scale_thread_tile(x, row.position, transforms);
    }
    signs.flip(x);
    out.store(row.first, row.left, base, x);
  });
}

/// A block transforms 4,096 values of one row, up to stride 2,048; larger transforms are not
/// multiplied yet.
template <class In, class Out, bool kSignsFirst>
__global__ void __launch_bounds__(kThreads, 3)
    rotate_piece_kernel(typename Source<In>::Tensor in, std::int64_t pieces,
                        RowTransforms transforms, const __grid_constant__ Stream stream,
                        bool has_signs, Sink<Out> out) {
  TERSOR_SHARED_ARRAY(float4, quads, kPiece / 4);
  auto* values = reinterpret_cast<float*>(quads);
  const std::int64_t row = blockIdx.x / pieces;
  const std::int64_t column = (blockIdx.x - row * pieces) * kPiece;
  const auto first = static_cast<std::uint32_t>(column);
  const std::int64_t at = row * transforms.hidden + column;
  const unsigned thread_tile = 8 * thread_tile_of_lane<true>(lane_of_thread());
#pragma unroll 1
  for (int j = 0; j < kPieceThreadTiles; ++j) {
    const unsigned subtile = (warp_of_thread() + j * kWarps) * kSubtile;
    float x[8];
    typename Source<In>::Base base;
    Source<In>::load_paired(in + (at + subtile), transforms.hidden - column - subtile, x, base);
    if (kSignsFirst && has_signs) ThreadTileSigns(stream, first + subtile + thread_tile).flip(x);
    butterfly_thread_tile<true>(x, first + subtile + thread_tile, transforms);
    put_thread_tile(values + subtile + thread_tile, x);
  }
  butterfly_piece(values, first, transforms);
#pragma unroll 1
  for (int j = 0; j < kPieceThreadTiles; ++j) {
    const unsigned subtile = (warp_of_thread() + j * kWarps) * kSubtile;
    const std::int64_t left = transforms.hidden - column - subtile;
    float x[8];
    typename Sink<Out>::Base base;
    get_thread_tile(values + subtile + thread_tile, x);
    if (transforms.block <= kPiece) scale_thread_tile(x, first + subtile + thread_tile, transforms);
    if (!kSignsFirst && has_signs) ThreadTileSigns(stream, first + subtile + thread_tile).flip(x);
    out.load(at + subtile, left, base);
    out.store(at + subtile, left, base, x);
  }
}

RowTransforms transforms_of(const Shape& shape, std::int64_t block) {
  if (shape.hidden > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported,
                "hadamard: rows of " + std::to_string(shape.hidden) + " values on a device");
  const auto hidden = static_cast<std::uint32_t>(shape.hidden);
  RowTransforms transforms{
      hidden, std::min(static_cast<std::uint32_t>(block), std::bit_floor(hidden)), false};
  transforms.are_thread_tiles_whole = transforms.block >= 8 && hidden % 8 == 0;
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

void rotate(const TensorView& in, const FeedbackArray& feedback, std::int64_t block,
            const Stream& signs, float* out, void* stream) {
  const RowTransforms transforms = transforms_of(in.shape, block);
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor from) {
    if (transforms.block <= kSubtile) {
      const WarpWork work = work_of(in.shape);
      TERSOR_LAUNCH(rotate_rows_kernel<In>, grid_of(work), kThreads, 0, stream, from, work,
                    transforms, signs, out);
      return;
    }
    const std::int64_t pieces = pieces_of(in.shape);
    TERSOR_LAUNCH((rotate_piece_kernel<In, Float32, true>),
                  transform_grid(pieces * in.shape.rows(), "hadamard"), kThreads, 0, stream, from,
                  pieces, transforms, signs, true, Sink<Float32>{out, false});
  });
  launch_high_strides(out, in.shape.rows(), transforms.hidden, transforms, "hadamard", stream);
}

template <class Out>
void inverse_rotate_to(const Sink<Out>& out, float* rotated, const Shape& shape, std::int64_t block,
                       const Stream& signs, void* stream) {
  const RowTransforms transforms = transforms_of(shape, block);
  const WarpWork work = work_of(shape);
  const std::int64_t pieces = pieces_of(shape);
  const float* const from = rotated;
  if (transforms.block > kPiece) {
    TERSOR_LAUNCH((rotate_piece_kernel<Float32, Float32, false>),
                  transform_grid(pieces * shape.rows(), "hadamard"), kThreads, 0, stream, from,
                  pieces, transforms, signs, false, Sink<Float32>{rotated, false});
    launch_high_strides(rotated, shape.rows(), transforms.hidden, transforms, "hadamard", stream);
    TERSOR_LAUNCH((inverse_rotate_rows_kernel<Out, false>), grid_of(work), kThreads, 0, stream,
                  from, work, transforms, signs, out);
  } else if (transforms.block <= kSubtile) {
    TERSOR_LAUNCH((inverse_rotate_rows_kernel<Out, true>), grid_of(work), kThreads, 0, stream, from,
                  work, transforms, signs, out);
  } else {
    TERSOR_LAUNCH((rotate_piece_kernel<Float32, Out, false>),
                  transform_grid(pieces * shape.rows(), "hadamard"), kThreads, 0, stream, from,
                  pieces, transforms, signs, true, out);
  }
}

void inverse_rotate(float* rotated, const Shape& shape, std::int64_t block, const Stream& signs,
                    const DecodeTarget& target, void* stream) {
  with_type(target.dtype, [&]<class Out>(Out) {
    const Sink<Out> out{static_cast<typename Out::Storage*>(target.data), target.is_accumulated};
    inverse_rotate_to(out, rotated, shape, block, signs, stream);
  });
}

void inverse_rotate_feedback(float* rotated, const TensorView& in, const FeedbackArray& feedback,
                             std::int64_t block, const Stream& signs, void* stream) {
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    if constexpr (Source<In>::kHasFeedback)
      inverse_rotate_to(Sink<In>{tensor}, rotated, in.shape, block, signs, stream);
  });
}

constexpr HadamardLaunchers kLaunchers{rotate, inverse_rotate, inverse_rotate_feedback};
const DeviceTable<HadamardLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
