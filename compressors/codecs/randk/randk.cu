// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/randk/randk.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/select.cuh"
#include "compressors/device/sparse.cuh"
#include "compressors/device/sparse_pack.cuh"

// Positions go to the workspace first: uniform ones by selection among the draws, whose threshold
// is known nearly enough to leave few candidates; stratified ones by a thread each. A thread then
// sends what is at each, and rewrites a wrapper's feedback there (encode_sources.cuh); where all of
// that changes, a warp does both for a tile.

namespace tersor::compressors {
namespace {

using namespace device;

/// Position j in stratum j; all positions where every element is sent. A template, as scan_counts.
template <class Position>
__global__ void __launch_bounds__(kThreads)
    place_in_strata(const __grid_constant__ Stream stream, std::uint64_t offset,
                    std::uint64_t elements, std::uint64_t entries, Position* positions) {
  const std::uint64_t j = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (j >= entries) return;
  if (entries == elements) {
    positions[j] = static_cast<Position>(j);
    return;
  }
  const std::uint64_t low = j * elements / entries;
  const std::uint64_t length = (j + 1) * elements / entries - low;
  const std::uint64_t draw = stream.draw32(offset + j);
  positions[j] = static_cast<Position>(low + (draw * length >> 32));
}

/// What is sent, and where.
struct Sending {
  const std::uint32_t* positions;
  std::int64_t entries;
  IndexCoding coding;  ///< of positions that the payload has as a list
  bool has_indices;
  std::int64_t index_bytes;
  ValueScale scale;  ///< what decoding multiplies by
  std::byte* out;

  /// Entry j: x at position i, NaN as the canonical one. Returns what it decodes to.
  template <class T>
  __device__ __forceinline__ float send(std::int64_t j, std::uint32_t i, float x) const {
    if constexpr (kIsPaired<T>)
      store_bytes(out + index_bytes + 4 * j, bits_of(T::round(x)));
    else
      store_bytes(out + index_bytes + 2 * j, T::round(x));
    if (has_indices) {
      if (coding == IndexCoding::kU16)
        store_bytes(out + 2 * j, static_cast<std::uint16_t>(i));
      else if (coding == IndexCoding::kU32)
        store_bytes(out + 4 * j, i);
      else if (coding == IndexCoding::kI64)
        store_bytes(out + 8 * j, std::uint64_t{i});
    }
    return scale.apply(T::widen(T::round(x)), static_cast<std::uint64_t>(j));
  }
};

/// A thread an entry: a result changes at the positions only.
template <class In>
__global__ void __launch_bounds__(kThreads)
    send_values(typename Source<In>::Tensor in, const __grid_constant__ Sending sending) {
  using From = Source<In>;
  const std::int64_t j = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (j >= sending.entries) return;
  const std::uint32_t i = sending.positions[j];
  if constexpr (From::kHasFeedback) {
    float base;
    const float x = From::at(in, i, base);
    in.feedback[i] = __fadd_rn(base, sending.send<typename From::Element>(j, i, x));
  } else {
    sending.send<In>(j, i, From::at(in, i));
  }
}

/// A warp a tile, all of whose state is rewritten: x +- feedback goes to shared memory, the entries
/// take it there, leave what they decode to and set a bit.
template <class T>
__global__ void __launch_bounds__(kThreads, 2)
    send_tiles(const FeedbackTensor<T> in, std::int64_t elements,
               const __grid_constant__ Sending sending) {
  using From = Source<WithFeedback<T>>;
  TERSOR_SHARED_ARRAY(float4, quads, kWarps * kTile / 4);
  TERSOR_SHARED_ARRAY(std::uint32_t, words, kWarps * 32);
  auto* values = reinterpret_cast<float*>(quads) + warp_of_thread() * kTile;
  std::uint32_t* const flags = words + warp_of_thread() * 32;
  const std::int64_t first = first_of_tile();
  if (first >= elements) return;
  const unsigned thread_tile = 8 * thread_tile_of_lane<true>(lane_of_thread());
  const auto alignment = From::alignment(in);
  typename From::Base base[kSubtiles];
#pragma unroll
  for (int c = 0; c < kSubtiles; ++c) {
    const std::int64_t at = first + c * kSubtile;
    float x[8];
    From::load(in + at, elements - at, alignment, x, base[c]);
    auto* to = reinterpret_cast<float4*>(values + c * kSubtile + thread_tile);
    store_vector(to, take_quad(x));
    store_vector(to + 1, take_quad(x + 4));
  }
  flags[lane_of_thread()] = 0;
  __syncwarp();
  const std::uint32_t* const positions = sending.positions;
  const std::int64_t entries = sending.entries;
  const std::int64_t begin =
      count_less<32>(entries, [&](std::int64_t j) { return positions[j] < first; });
  for (std::int64_t j = begin + lane_of_thread(); j < entries; j += 32) {
    const std::uint32_t i = positions[j];
    if (i >= first + kTile) break;
    const auto at = static_cast<unsigned>(i - first);
    values[at] = sending.send<T>(j, i, values[at]);
    atomicOr(&flags[at / 32], 1u << at % 32);
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < kSubtiles; ++c) {
    const std::int64_t at = first + c * kSubtile;
    if (at >= elements) break;
    const unsigned place = c * kSubtile + thread_tile;
    const std::uint32_t sent = flags[place / 32] >> place % 32;
    float decoded[8];
    put_quad(load_vector(reinterpret_cast<const float4*>(values + place)), decoded);
    put_quad(load_vector(reinterpret_cast<const float4*>(values + place) + 1), decoded + 4);
#pragma unroll
    for (int i = 0; i < 8; ++i) decoded[i] = (sent >> i & 1u) != 0 ? decoded[i] : 0.0f;
    From::store_sum(in + at, elements - at, alignment, base[c], decoded);
  }
}

void draw(const RandKMessage& message, const RandKArrays& arrays, void* stream) {
  const SparseGrid& grid = message.grid;
  const auto elements = static_cast<std::uint64_t>(grid.elements);
  const auto entries = static_cast<std::uint64_t>(grid.entries);
  if (message.is_stratified || elements == entries) {
    TERSOR_LAUNCH(place_in_strata<std::uint32_t>,
                  grid_of(blocks_for(grid.entries, kThreads), "randk"), kThreads, 0, stream,
                  message.stream, message.offset, elements, entries, arrays.positions);
    return;
  }
  SelectJob<DrawSource> job{};
  job.source = {message.stream, message.offset};
  job.grid = grid;
  job.plan = arrays.plan;
  job.positions = arrays.positions;
  const KeyBracket bracket = draw_bracket(grid.elements, grid.entries);
  job.low = bracket.low;
  job.high = bracket.high;
  if (grid.elements <= kLongestInRegisters)
    TERSOR_LAUNCH((select_in_registers<DrawSource, 16, 4>), 1, 512, 0, stream, job);
  else
    launch_select_long(job, "randk", stream);
}

/// Of payloads that are multiplied in decoding, so that they are unbiased.
ValueScale scale_of(const RandKMessage& message) {
  ValueScale scale{};
  if (!message.is_unbiased) return scale;
  const auto n = static_cast<double>(message.grid.elements);
  scale.kind = message.is_stratified ? ValueScale::kStrata : ValueScale::kFactor;
  scale.factor = static_cast<float>(n / static_cast<double>(message.grid.entries));
  scale.elements = static_cast<std::uint64_t>(message.grid.elements);
  scale.entries = static_cast<std::uint64_t>(message.grid.entries);
  return scale;
}

void encode(const TensorView& in, const FeedbackArray& feedback, const RandKMessage& message,
            std::byte* out, const Context& context) {
  const SparseGrid& grid = message.grid;
  expect_fits(grid, "randk");
  DeviceWorkspace workspace(context.workspace, "randk");
  const RandKArrays arrays = randk_arrays(message, workspace);
  draw(message, arrays, context.stream);
  const Sending sending{arrays.positions,
                        grid.entries,
                        grid.coding,
                        message.has_indices,
                        message.has_indices ? grid.index_bytes : 0,
                        scale_of(message),
                        out};
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    if constexpr (Source<In>::kHasFeedback)
      if (feedback.meaning != FeedbackArray::kResult)
        return TERSOR_LAUNCH(send_tiles<typename Source<In>::Element>,
                             blocks_of_tiles(grid.elements, "randk"), kThreads, 0, context.stream,
                             tensor, grid.elements, sending);
    TERSOR_LAUNCH(send_values<In>, grid_of(blocks_for(grid.entries, kThreads), "randk"), kThreads,
                  0, context.stream, tensor, sending);
  });
  if (message.has_indices && grid.has_bits())
    launch_pack(grid, arrays.positions, out, "randk", context.stream);
}

void decode(std::span<const std::span<const std::byte>> payloads, const RandKMessage& message,
            DType dtype, const DecodeTarget& target, const Context& context) {
  const SparseGrid& grid = message.grid;
  expect_fits(grid, "randk");
  DeviceWorkspace workspace(context.workspace, "randk");
  SparseJob job{};
  job.grid = grid;
  job.dtype = dtype;
  job.scale = scale_of(message);
  if (message.has_indices) {
    job.flag_ranks = take_flag_ranks(grid, workspace);
    job.chunks = flag_chunks(grid);
  } else {
    const RandKArrays arrays = randk_arrays(message, workspace);
    draw(message, arrays, context.stream);
    job.positions = arrays.positions;
  }
  launch_decode(job, payloads, target, "randk", context.stream);
}

constexpr RandKLaunchers kLaunchers{encode, decode};
const DeviceTable<RandKLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
