// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compressors/codecs/sign/sign.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/scaled.cuh"

// The bits do not wait for the scales, so one pass sends them and sums:
//
//   4,096 values --16-byte loads--> registers --> bits ----> shared --16-byte stores--> payload
//                                             \-> |x| -----> shared --fixed tree--> scale, or the
//                                                            sum of a block for a second launch
//
// Channels, and scopes that do not begin at whole bytes, are summed by one launch of their own.
//
// A wrapper's state (encode_sources.cuh) needs the scale: a unit of whole scopes keeps its
// thread tiles in registers until it has them, and else the pass that sums sends nothing; a launch
// folds the sums, and another one sends the bits and rewrites the state.

namespace tersor::compressors {
namespace {

using namespace device;

constexpr unsigned kUnitThreadTiles = kTreeBlock / 8 / kThreads;

/// Bit i is the sign of x[i], 0 for NaN; and magnitudes of finite values, else 0.
__device__ __forceinline__ std::uint32_t split_thread_tile(float* x) {
  std::uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    bits |= bits_of(nan_to_zero(x[i])) >> 31 << i;
    x[i] = float_of(magnitude_bits(finite_or_zero(x[i])));
  }
  return bits;
}

/// Lane i adds elements i, i + 32, .. of `values`, then the lanes fold: the sum, in lane 0.
__device__ __forceinline__ float sum_of_block(const float* values, std::int64_t count) {
  float sum = 0.0f;
  for (std::int64_t i = lane_of_thread(); i < count; i += 32) sum = __fadd_rn(sum, values[i]);
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
    sum = __fadd_rn(sum, __shfl_down_sync(kAllLanes, sum, half));
  return sum;
}

/// Writes and returns it.
__device__ __forceinline__ float write_scale(std::byte* payload, std::int64_t scope, float sum,
                                             std::int64_t length) {
  const float mean = __fdiv_rn(sum, static_cast<float>(length));
  const float scale = mean < kFloat32Max ? mean : kFloat32Max;
  store_bytes(payload + 4 * scope, bits_of(scale));
  return scale;
}

__device__ __forceinline__ float signed_scale(float scale, std::uint32_t sign) {
  return float_of(bits_of(scale) ^ sign << 31);
}

/// Of launch bounds: with a state more registers, of kernels that keep its thread tiles up to 128.
template <class In>
inline constexpr int kUnitBlocks = Source<In>::kHasFeedback ? 2 : kResidentBlocks;
template <class In>
inline constexpr int kTileBlocks = Source<In>::kHasFeedback ? kEncodingBlocks : kResidentBlocks;

/// Block (unit): `per_unit` whole scopes of at most 4,096 elements, or with `blocks` > 0 one block
/// of the tree of a longer one; that one sends no bits where there is feedback.
template <class In>
__global__ void __launch_bounds__(kThreads, kUnitBlocks<In>)
    encode_units_kernel(typename Source<In>::Tensor in, Scopes scopes, std::int64_t per_unit,
                        std::int64_t blocks, float* sums, std::byte* payload) {
  using From = Source<In>;
  TERSOR_SHARED_ARRAY(float4, quads, kTreeBlock / 4);
  TERSOR_SHARED_ARRAY(uint4, words, kTreeBlock / 8 / 16 + 1);
  auto* values = reinterpret_cast<float*>(quads);
  const Stage stage{reinterpret_cast<unsigned char*>(words)};
  const std::int64_t scope = blocks > 0 ? blockIdx.x / blocks : blockIdx.x * per_unit;
  const std::int64_t block = blocks > 0 ? blockIdx.x - scope * blocks : 0;
  const std::int64_t first = scope * scopes.length + block * kTreeBlock;
  std::int64_t count = scopes.length - block * kTreeBlock;
  if (blocks == 0)
    count = scopes.length * (per_unit < scopes.scopes - scope ? per_unit : scopes.scopes - scope);
  if (count > kTreeBlock) count = kTreeBlock;
  std::byte* to = payload + 4 * scopes.scopes + first / 8;
  const unsigned skew = Stage::skew_of(to);
  const unsigned thread_tile = thread_tile_of_lane<From::kIsPaired>(lane_of_thread());
  const auto alignment = From::alignment(in + first);
  typename From::Base base[kUnitThreadTiles];
  std::uint32_t bits[kUnitThreadTiles];
#pragma unroll
  for (unsigned j = 0; j < kUnitThreadTiles; ++j) {
    const unsigned subtile = (warp_of_thread() + j * kWarps) * kSubtile;
    float x[8];
    From::load(in + (first + subtile), count - subtile, alignment, x, base[j]);
    bits[j] = split_thread_tile(x);
    stage.bytes[skew + subtile / 8 + thread_tile] = static_cast<unsigned char>(bits[j]);
    auto* at = reinterpret_cast<float4*>(values + subtile + 8 * thread_tile);
    store_vector(at, take_quad(x));
    store_vector(at + 1, take_quad(x + 4));
  }
  __syncthreads();
  const bool has_scales = !From::kHasFeedback || blocks == 0;
  if (warp_of_thread() == kWarps - 1 && has_scales)
    stage.flush(to, static_cast<unsigned>((count + 7) / 8));
  if (blocks > 0) {
    if (warp_of_thread() > 0) return;
    const float sum = sum_of_block(values, count);
    if (lane_of_thread() == 0) sums[blockIdx.x] = sum;
    return;
  }
  TERSOR_SHARED_ARRAY(float, scales, kTreeBlock / 8);
  for (std::int64_t s = warp_of_thread(); s * scopes.length < count; s += kWarps) {
    const float sum = sum_of_block(values + s * scopes.length, scopes.length);
    if (lane_of_thread() == 0) scales[s] = write_scale(payload, scope + s, sum, scopes.length);
  }
  if constexpr (From::kHasFeedback) {
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < kUnitThreadTiles; ++j) {
      const unsigned subtile = (warp_of_thread() + j * kWarps) * kSubtile;
      const unsigned at = subtile + 8 * thread_tile;
      const float scale = at < count ? scales[at / static_cast<unsigned>(scopes.length)] : 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        base[j].values[i] = __fadd_rn(base[j].values[i], signed_scale(scale, bits[j] >> i));
      From::store(in + (first + subtile), count - subtile, alignment, base[j]);
    }
  }
}

/// Second launch of long scopes: a block folds one.
__global__ void __launch_bounds__(kThreads)
    fold_long_kernel(Scopes scopes, std::int64_t blocks, float* sums, std::byte* payload) {
  TERSOR_SHARED_ARRAY(float, shared, kTreeBlock);
  float* own = sums + blockIdx.x * blocks;
  std::int64_t half = 1;
  while (half < blocks) half *= 2;
  std::int64_t left = blocks;
  for (half /= 2; half >= kTreeBlock; half /= 2) {
    for (std::int64_t i = threadIdx.x; i + half < left; i += kThreads)
      own[i] = __fadd_rn(own[i], own[i + half]);
    left = left < half ? left : half;
    __syncthreads();
  }
  for (std::int64_t i = threadIdx.x; i < left; i += kThreads) shared[i] = own[i];
  __syncthreads();
  for (; half > 0; half /= 2) {
    for (std::int64_t i = threadIdx.x; i + half < left; i += kThreads)
      shared[i] = __fadd_rn(shared[i], shared[i + half]);
    left = left < half ? left : half;
    __syncthreads();
  }
  if (threadIdx.x == 0) write_scale(payload, blockIdx.x, shared[0], scopes.length);
}

/// The scales of block sums that tree_runs_kernel or tree_channels_kernel left; all warps of a grid
/// call it.
__device__ __forceinline__ void fold_short(const Scopes& scopes, std::int64_t blocks, float* sums,
                                           std::byte* payload) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
       scope < scopes.scopes; scope += warps) {
    const float sum = fold_blocks(sums + scope * blocks, blocks);
    if (lane_of_thread() == 0) write_scale(payload, scope, sum, scopes.slice(scope).length);
  }
}
__global__ void __launch_bounds__(kThreads)
    fold_short_kernel(Scopes scopes, std::int64_t blocks, float* sums, std::byte* payload) {
  fold_short(scopes, blocks, sums, payload);
}

/// Adds to the state what the thread tile's bits decode to, its scales from the payload.
__device__ __forceinline__ void add_signs(const Scopes& scopes, const std::byte* payload,
                                          std::int64_t element, std::uint32_t bits, float* base) {
  std::int64_t scope = 0;
  float scale = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (element + i < scopes.n && (i == 0 || !scopes.is_thread_tile_in_one)) {
      scope = i > 0 && scopes.is_thread_tile_consecutive ? scope + 1 : scopes.of(element + i);
      scale = float_of(load_bytes<std::uint32_t>(payload + 4 * scope));
    }
    base[i] = __fadd_rn(base[i], signed_scale(scale, bits >> i));
  }
}

/// Last launch of all other scopes: the bits, a tile a warp, and the scales; with a state these are
/// there, and it is rewritten.
template <class In>
__global__ void __launch_bounds__(kThreads, kTileBlocks<In>)
    encode_summed_kernel(typename Source<In>::Tensor in, Scopes scopes, std::int64_t blocks,
                         float* sums, std::byte* payload) {
  using From = Source<In>;
  TERSOR_STAGE(stage);
  if constexpr (!From::kHasFeedback) fold_short(scopes, blocks, sums, payload);
  const std::int64_t first = first_of_tile();
  if (first >= scopes.n) return;
  const std::int64_t count = scopes.n - first < kTile ? scopes.n - first : kTile;
  std::byte* to = payload + 4 * scopes.scopes + first / 8;
  const unsigned skew = Stage::skew_of(to);
  const unsigned thread_tile = thread_tile_of_lane<From::kIsPaired>(lane_of_thread());
  const auto alignment = From::alignment(in);
#pragma unroll
  for (int j = 0; j < kSubtiles; ++j) {
    const auto from = in + (first + j * kSubtile);
    float x[8];
    typename From::Base base;
    From::load(from, count - j * kSubtile, alignment, x, base);
    const std::uint32_t bits = split_thread_tile(x);
    stage.bytes[skew + j * kSubtile / 8 + thread_tile] = static_cast<unsigned char>(bits);
    if constexpr (From::kHasFeedback) {
      add_signs(scopes, payload, first + j * kSubtile + 8 * thread_tile, bits, base.values);
      From::store(from, count - j * kSubtile, alignment, base);
    }
  }
  __syncwarp();
  stage.flush(to, static_cast<unsigned>((count + 7) / 8));
}

template <class In>
void encode_typed(typename Source<In>::Tensor in, const Shape& shape, const ScopeGrid& grid,
                  std::byte* payload, const Context& context) {
  const Scopes scopes = device_scopes(grid, shape);
  const bool is_channel = scopes.kind == Scopes::kChannels;
  const std::int64_t length = is_channel ? scopes.n / scopes.hidden : scopes.length;
  const std::int64_t blocks = divide_up(length, kTreeBlock);
  DeviceScratch scratch(context, "sign");
  void* stream = context.stream;
  auto* sums = scratch.take<float>(scopes.scopes * blocks);
  const bool is_one_pass = scopes.kind == Scopes::kRuns && scopes.is_thread_tile_in_one;
  const auto launch_summed = [&] {
    TERSOR_LAUNCH(encode_summed_kernel<In>, blocks_of_tiles(scopes.n, "sign"), kThreads, 0, stream,
                  in, scopes, blocks, sums, payload);
  };
  if (is_one_pass && blocks == 1) {
    const std::int64_t per_unit = kTreeBlock / length;
    TERSOR_LAUNCH(encode_units_kernel<In>, checked_grid(divide_up(scopes.scopes, per_unit), "sign"),
                  kThreads, 0, stream, in, scopes, per_unit, std::int64_t{0}, sums, payload);
  } else if (is_one_pass) {
    TERSOR_LAUNCH(encode_units_kernel<In>, checked_grid(scopes.scopes * blocks, "sign"), kThreads,
                  0, stream, in, scopes, std::int64_t{1}, blocks, sums, payload);
    TERSOR_LAUNCH(fold_long_kernel, checked_grid(scopes.scopes, "sign"), kThreads, 0, stream,
                  scopes, blocks, sums, payload);
    if constexpr (Source<In>::kHasFeedback) launch_summed();
  } else {
    if (is_channel)
      TERSOR_LAUNCH((tree_channels_kernel<In, false>),
                    checked_grid(divide_up(scopes.hidden, 32) * blocks, "sign"), 1024, 0, stream,
                    in, scopes, blocks, sums);
    else
      TERSOR_LAUNCH((tree_runs_kernel<In, false>),
                    checked_grid(divide_up(scopes.scopes * blocks, kWarps), "sign"), kThreads, 0,
                    stream, in, scopes, blocks, sums);
    if constexpr (Source<In>::kHasFeedback)
      TERSOR_LAUNCH(fold_short_kernel, checked_grid(divide_up(scopes.scopes, kWarps), "sign"),
                    kThreads, 0, stream, scopes, blocks, sums, payload);
    launch_summed();
  }
}

void encode(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
            std::byte* payload, const Context& context) {
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    encode_typed<In>(tensor, in.shape, grid, payload, context);
  });
}

/// What decode_kernel needs of a coder.
struct SignCoder {
  struct Step {
    std::uint32_t scale = 0;
  };
  int width = 1;
  std::int64_t metadata_bytes = 0;

  __device__ __forceinline__ Step step_of(const std::byte* payload, std::int64_t scope,
                                          std::int64_t) const {
    return {load_bytes<std::uint32_t>(payload + 4 * scope)};
  }
  __device__ __forceinline__ float value(std::uint32_t code, const Step& step) const {
    return float_of(step.scale ^ code << 31);
  }
};

void decode(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
            const ScopeGrid& grid, const DecodeTarget& target, const Context& context) {
  SignCoder coder;
  coder.metadata_bytes = 4 * grid.count();
  launch_decode(payloads, shape, grid, coder, target, context, "sign");
}

constexpr SignLaunchers kLaunchers{encode, decode};
const DeviceTable<SignLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
