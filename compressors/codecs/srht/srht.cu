// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/workspace.hpp"
#include "compressors/codecs/srht/srht.hpp"
#include "compressors/codecs/srht/srht_rows.cuh"
#include "compressors/device/device_table.hpp"
#include "compressors/device/hadamard.cuh"
#include "compressors/device/plain.cuh"

// First launch: one block draws the coordinates. Second launch: a block takes 4,096 values of
// padded rows, that is one row or several,
//
//   rows --pad, signs--> shared --butterfly--> shared --coordinates--> payload
//
// and the other way round. Rows padded to more than 4,096 values go through the workspace, with a
// launch for each step.

namespace tersor::compressors {
namespace {

using namespace device;

static_assert(kLongestPieceRow == kPiece);

/// Sum of `value` over the threads before this one, and over all of them.
struct BlockScan {
  unsigned before;
  unsigned all;
};
__device__ __forceinline__ BlockScan scan_block(unsigned value) {
  TERSOR_SHARED_ARRAY(unsigned, of_warp, kWarps);
  unsigned sum = value;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned other = __shfl_up_sync(kAllLanes, sum, distance);
    if (lane_of_thread() >= static_cast<unsigned>(distance)) sum += other;
  }
  __syncthreads();
  if (lane_of_thread() == 31) of_warp[warp_of_thread()] = sum;
  __syncthreads();
  BlockScan scan{sum - value, 0};
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    if (warp < warp_of_thread()) scan.before += of_warp[warp];
    scan.all += of_warp[warp];
  }
  return scan;
}

/// The `dim` positions of the smallest draws of 0 .. size-1, ties to the lowest, in ascending
/// order: one block finds the dim-th smallest key digit by digit, then collects.
__global__ void __launch_bounds__(kThreads)
    coordinates_kernel(const __grid_constant__ Stream stream, std::uint32_t size, std::uint32_t dim,
                       std::uint32_t* keys, std::uint32_t* coordinates) {
  TERSOR_SHARED_ARRAY(unsigned, counts, kThreads);
  TERSOR_SHARED_ARRAY(std::uint32_t, found, 2);
#pragma unroll 1
  for (std::uint32_t begin = 0; begin < size; begin += kThreads)
    if (begin + threadIdx.x < size) keys[begin + threadIdx.x] = stream.draw32(begin + threadIdx.x);
  std::uint32_t prefix = 0;
  std::uint32_t rank = dim;  // of the key wanted, among those that begin with prefix
#pragma unroll 1
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (std::uint32_t begin = 0; begin < size; begin += kThreads) {
      const std::uint32_t i = begin + threadIdx.x;
      const std::uint32_t key = i < size ? keys[i] : 0;
      if (i < size && (shift == 24 || key >> (shift + 8) == prefix >> (shift + 8)))
        atomicAdd(&counts[key >> shift & 0xFFu], 1u);
    }
    __syncthreads();
    const unsigned count = counts[threadIdx.x];
    const BlockScan scan = scan_block(count);
    if (scan.before < rank && rank <= scan.before + count) {
      found[0] = prefix | threadIdx.x << shift;
      found[1] = rank - scan.before;
    }
    __syncthreads();
    prefix = found[0];
    rank = found[1];
  }
  unsigned chosen = 0;
  unsigned ties = 0;
#pragma unroll 1
  for (std::uint32_t begin = 0; begin < size; begin += kThreads) {
    const std::uint32_t i = begin + threadIdx.x;
    const std::uint32_t key = i < size ? keys[i] : 0xFFFFFFFFu;
    const bool is_tie = i < size && key == prefix;
    const BlockScan tied = scan_block(is_tie ? 1 : 0);
    const bool is_chosen = i < size && (key < prefix || (is_tie && ties + tied.before < rank));
    const BlockScan taken = scan_block(is_chosen ? 1 : 0);
    if (is_chosen) coordinates[chosen + taken.before] = i;
    ties += tied.all;
    chosen += taken.all;
  }
}

template <class In>
__global__ void __launch_bounds__(kThreads, 3)
    encode_pieces_kernel(const typename In::Storage* in, RowPlan plan, EqualTransforms transforms,
                         const std::uint32_t* coordinates, std::byte* payload) {
  TERSOR_SHARED_ARRAY(float4, quads, kPiece / 4);
  auto* values = reinterpret_cast<float*>(quads);
  const std::uint32_t rows_of_piece = kPiece / plan.size;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * rows_of_piece;
#pragma unroll 1
  for (int j = 0; j < kPieceThreadTiles; ++j) {
    const std::uint32_t at = (warp_of_thread() + j * kWarps) * kSubtile + 8 * lane_of_thread();
    float x[8];
    load_padded<In>(in, plan, row, at, x);
    flip_padded(plan, at, x);
    butterfly_thread_tile<false>(x, at, transforms);
    put_thread_tile(values + at, x);
  }
  butterfly_piece(values, 0, transforms);
  const std::int64_t left = plan.rows - row;
  const auto here = static_cast<std::uint32_t>(left < rows_of_piece ? left : rows_of_piece);
  const float factor = transform_factor(plan.size);
  std::byte* to = payload + row * plan.dim * sizeof(typename In::Storage);
#pragma unroll 1
  for (std::uint32_t first = 8 * threadIdx.x; first < here * plan.dim; first += 8 * kThreads) {
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t at = first + i < here * plan.dim ? first + i : first;
      const std::uint32_t r = at / plan.dim;
      const float value = values[r * plan.size + coordinates[at - r * plan.dim]];
      x[i] = __fmul_rn(__fmul_rn(value, factor), plan.factor);
    }
    store_eight<In>(to + first * sizeof(typename In::Storage), here * plan.dim - first, x);
  }
}

template <class In, class Out>
__global__ void __launch_bounds__(kThreads, 2)
    decode_pieces_kernel(const __grid_constant__ Payloads payloads, RowPlan plan,
                         EqualTransforms transforms, const std::uint32_t* coordinates,
                         bool is_accumulated, typename Out::Storage* out) {
  TERSOR_SHARED_ARRAY(float4, quads, kPiece / 4);
  auto* values = reinterpret_cast<float*>(quads);
  const std::uint32_t rows_of_piece = kPiece / plan.size;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * rows_of_piece;
  const std::int64_t left = plan.rows - row;
  const auto here = static_cast<std::uint32_t>(left < rows_of_piece ? left : rows_of_piece);
  const float factor = transform_factor(plan.size);
  float sum[kPieceThreadTiles][8];
  if (is_accumulated)
#pragma unroll
    for (int j = 0; j < kPieceThreadTiles; ++j)
      load_padded<Out>(out, plan, row,
                       (warp_of_thread() + j * kWarps) * kSubtile + 8 * lane_of_thread(), sum[j]);
#pragma unroll 1
  for (int p = 0; p < payloads.count; ++p) {
    const std::byte* payload = payloads.at[p] + row * plan.dim * sizeof(typename In::Storage);
#pragma unroll
    for (int j = 0; j < kPieceThreadTiles; ++j)
#pragma unroll
      for (int quad = 0; quad < 2; ++quad)
        store_vector(quads + (threadIdx.x + j * kThreads) * 2 + quad,
                     make_float4(0.0f, 0.0f, 0.0f, 0.0f));
    __syncthreads();
    for (std::uint32_t at = threadIdx.x; at < here * plan.dim; at += kThreads) {
      const std::uint32_t r = at / plan.dim;
      values[r * plan.size + coordinates[at - r * plan.dim]] =
          __fmul_rn(load_item<In>(payload, at), plan.factor);
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kPieceThreadTiles; ++j) {
      const std::uint32_t at = (warp_of_thread() + j * kWarps) * kSubtile + 8 * lane_of_thread();
      float x[8];
      get_thread_tile(values + at, x);
      butterfly_thread_tile<false>(x, at, transforms);
      put_thread_tile(values + at, x);
    }
    butterfly_piece(values, 0, transforms);
#pragma unroll
    for (int j = 0; j < kPieceThreadTiles; ++j) {
      const std::uint32_t at = (warp_of_thread() + j * kWarps) * kSubtile + 8 * lane_of_thread();
      float x[8];
      get_thread_tile(values + at, x);
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = __fmul_rn(x[i], factor);
      flip_padded(plan, at, x);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum[j][i] = p == 0 && !is_accumulated ? x[i] : __fadd_rn(sum[j][i], x[i]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < kPieceThreadTiles; ++j)
    store_padded<Out>(out, plan, row,
                      (warp_of_thread() + j * kWarps) * kSubtile + 8 * lane_of_thread(), sum[j]);
}

// ---- rows of more than a piece, in the workspace as {rows, size}

template <class In>
__global__ void __launch_bounds__(kThreads)
    pad_kernel(const typename In::Storage* in, RowPlan plan, float* padded) {
  const std::int64_t thread_tiles = plan.size / 8;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= plan.rows * thread_tiles) return;
  const std::int64_t row = i / thread_tiles;
  const auto at = static_cast<std::uint32_t>(8 * (i - row * thread_tiles));
  float x[8];
  load_padded<In>(in, plan, row, at, x);
  flip_padded(plan, at, x);
  put_thread_tile(padded + 8 * i, x);
}

/// Strides up to 2,048, in place.
__global__ void __launch_bounds__(kThreads, 3)
    low_strides_kernel(float* padded, EqualTransforms transforms) {
  TERSOR_SHARED_ARRAY(float4, quads, kPiece / 4);
  auto* values = reinterpret_cast<float*>(quads);
  float* piece = padded + static_cast<std::int64_t>(blockIdx.x) * kPiece;
#pragma unroll 1
  for (int j = 0; j < kPieceThreadTiles; ++j) {
    const std::uint32_t at = (warp_of_thread() + j * kWarps) * kSubtile + 8 * lane_of_thread();
    float x[8];
    get_thread_tile(piece + at, x);
    butterfly_thread_tile<false>(x, at, transforms);
    put_thread_tile(values + at, x);
  }
  butterfly_piece(values, 0, transforms);
#pragma unroll 1
  for (int j = 0; j < kPieceThreadTiles; ++j) {
    const std::uint32_t at = (warp_of_thread() + j * kWarps) * kSubtile + 8 * lane_of_thread();
    float x[8];
    get_thread_tile(values + at, x);
    put_thread_tile(piece + at, x);
  }
}

template <class In>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const float* padded, RowPlan plan, const std::uint32_t* coordinates,
                  std::byte* payload) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= plan.rows * plan.dim) return;
  const std::int64_t row = i / plan.dim;
  const float value =
      __fmul_rn(padded[row * plan.size + coordinates[i - row * plan.dim]], plan.factor);
  if constexpr (sizeof(typename In::Storage) == 4)
    store_bytes(payload + 4 * i, bits_of(In::round(value)));
  else
    store_bytes(payload + 2 * i, In::round(value));
}

__global__ void __launch_bounds__(kThreads) clear_kernel(float* padded, std::int64_t quads) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < quads)
    store_vector(reinterpret_cast<float4*>(padded) + i, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
}

template <class In>
__global__ void __launch_bounds__(kThreads)
    scatter_kernel(const std::byte* payload, RowPlan plan, const std::uint32_t* coordinates,
                   float* padded) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= plan.rows * plan.dim) return;
  const std::int64_t row = i / plan.dim;
  padded[row * plan.size + coordinates[i - row * plan.dim]] =
      __fmul_rn(load_item<In>(payload, i), plan.factor);
}

template <class Out>
__global__ void __launch_bounds__(kThreads)
    unpad_kernel(const float* padded, RowPlan plan, bool is_accumulated,
                 typename Out::Storage* out) {
  const std::int64_t thread_tiles = plan.size / 8;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= plan.rows * thread_tiles) return;
  const std::int64_t row = i / thread_tiles;
  const auto at = static_cast<std::uint32_t>(8 * (i - row * thread_tiles));
  float x[8];
  float sum[8];
  get_thread_tile(padded + 8 * i, x);
  flip_padded(plan, at, x);
  if (is_accumulated) load_padded<Out>(out, plan, row, at, sum);
#pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = is_accumulated ? __fadd_rn(sum[j], x[j]) : x[j];
  store_padded<Out>(out, plan, row, at, x);
}

// ---- launching

unsigned threads_grid(std::int64_t threads) {
  return transform_grid((threads + kThreads - 1) / kThreads, "srht");
}

struct Prepared {
  RowPlan rows;
  EqualTransforms transforms;
  std::uint32_t* coordinates;
  float* padded;  ///< of rows longer than a piece
};

/// Draws the coordinates.
Prepared prepare(const Shape& shape, const SrhtPlan& plan, Scratch& scratch, void* stream) {
  if (plan.size > 0x40000000)
    throw Error(ErrorKind::kUnsupported,
                "srht: rows of " + std::to_string(shape.hidden) + " values on a device");
  Prepared p{};
  const auto size = static_cast<std::uint32_t>(plan.size);
  p.rows = {shape.rows(), static_cast<std::uint32_t>(shape.hidden),
            size,         static_cast<std::uint32_t>(plan.dim),
            plan.factor,  plan.signs};
  p.transforms = {size, size >= 8};
  p.coordinates = scratch.take<std::uint32_t>(plan.dim).data();
  TERSOR_LAUNCH(coordinates_kernel, 1, kThreads, 0, stream, plan.coordinates, size, p.rows.dim,
                scratch.take<std::uint32_t>(plan.size).data(), p.coordinates);
  p.padded = size > kPiece ? scratch.take<float>(shape.rows() * plan.size).data() : nullptr;
  return p;
}

unsigned pieces_of(const Prepared& p) {
  const std::int64_t rows_of_piece = kPiece / p.rows.size;
  return transform_grid((p.rows.rows + rows_of_piece - 1) / rows_of_piece, "srht");
}

void rotate_padded(const Prepared& p, void* stream) {
  TERSOR_LAUNCH(low_strides_kernel, transform_grid(p.rows.rows * (p.rows.size / kPiece), "srht"),
                kThreads, 0, stream, p.padded, p.transforms);
  launch_high_strides(p.padded, p.rows.rows, p.rows.size, p.transforms, "srht", stream);
}

void encode(const TensorView& in, const SrhtPlan& plan, std::byte* payload,
            const Context& context) {
  Scratch scratch(context);
  void* stream = context.stream;
  const Prepared p = prepare(in.shape, plan, scratch, stream);
  with_type(in.dtype, [&]<class In>(In) {
    const auto* from = static_cast<const typename In::Storage*>(in.data);
    if (p.padded == nullptr) {
      TERSOR_LAUNCH(encode_pieces_kernel<In>, pieces_of(p), kThreads, 0, stream, from, p.rows,
                    p.transforms, p.coordinates, payload);
      return;
    }
    TERSOR_LAUNCH(pad_kernel<In>, threads_grid(p.rows.rows * (p.rows.size / 8)), kThreads, 0,
                  stream, from, p.rows, p.padded);
    rotate_padded(p, stream);
    TERSOR_LAUNCH(gather_kernel<In>, threads_grid(p.rows.rows * p.rows.dim), kThreads, 0, stream,
                  p.padded, p.rows, p.coordinates, payload);
  });
}

template <class In>
void decode_pieces(std::span<const std::span<const std::byte>> all, const Prepared& p,
                   const DecodeTarget& target, void* stream) {
  for_each_batch(all, target.is_accumulated, [&](const Payloads& batch, bool is_accumulated) {
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH((decode_pieces_kernel<In, Out>), pieces_of(p), kThreads, 0, stream, batch,
                    p.rows, p.transforms, p.coordinates, is_accumulated,
                    static_cast<typename Out::Storage*>(target.data));
    });
  });
}

/// One payload after the other, each rounded to the target's dtype: several come in float32 only,
/// since an all-reduce brings one.
template <class In>
void decode_padded(std::span<const std::span<const std::byte>> all, const Prepared& p,
                   const DecodeTarget& target, void* stream) {
  bool is_accumulated = target.is_accumulated;
  for (const auto& payload : all) {
    const std::int64_t quads = p.rows.rows * (p.rows.size / 4);
    TERSOR_LAUNCH(clear_kernel, threads_grid(quads), kThreads, 0, stream, p.padded, quads);
    TERSOR_LAUNCH(scatter_kernel<In>, threads_grid(p.rows.rows * p.rows.dim), kThreads, 0, stream,
                  payload.data(), p.rows, p.coordinates, p.padded);
    rotate_padded(p, stream);
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH(unpad_kernel<Out>, threads_grid(p.rows.rows * (p.rows.size / 8)), kThreads, 0,
                    stream, p.padded, p.rows, is_accumulated,
                    static_cast<typename Out::Storage*>(target.data));
    });
    is_accumulated = true;
  }
}

void decode(std::span<const std::span<const std::byte>> payloads, const Shape& shape, DType dtype,
            const SrhtPlan& plan, const DecodeTarget& target, const Context& context) {
  Scratch scratch(context);
  const Prepared p = prepare(shape, plan, scratch, context.stream);
  with_type(dtype, [&]<class In>(In) {
    if (p.padded == nullptr)
      decode_pieces<In>(payloads, p, target, context.stream);
    else
      decode_padded<In>(payloads, p, target, context.stream);
  });
}

constexpr SrhtLaunchers kLaunchers{encode, decode};
const DeviceTable<SrhtLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
