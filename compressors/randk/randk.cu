// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/device_table.hpp"
#include "compressors/api/select.cuh"
#include "compressors/api/sparse.cuh"
#include "compressors/api/sparse_pack.cuh"
#include "compressors/randk/randk.hpp"

// Positions go to the workspace first: uniform ones by selection among the draws, whose threshold
// is known nearly enough to leave few candidates; stratified ones by a thread each.

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

/// The values at the positions, NaN as the canonical one, and their indices where these are a list.
template <class T>
__global__ void __launch_bounds__(kThreads)
    send_values(const typename T::Storage* in, const std::uint32_t* positions, std::int64_t entries,
                IndexCoding coding, bool has_indices, std::int64_t index_bytes, std::byte* out) {
  const std::int64_t j = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (j >= entries) return;
  const std::uint32_t i = positions[j];
  const float x = T::widen(in[i]);
  if constexpr (kIsPaired<T>)
    store_bytes(out + index_bytes + 4 * j, bits_of(T::round(x)));
  else
    store_bytes(out + index_bytes + 2 * j, T::round(x));
  if (!has_indices) return;
  if (coding == IndexCoding::kU16)
    store_bytes(out + 2 * j, static_cast<std::uint16_t>(i));
  else if (coding == IndexCoding::kU32)
    store_bytes(out + 4 * j, i);
  else if (coding == IndexCoding::kI64)
    store_bytes(out + 8 * j, std::uint64_t{i});
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

void encode(const TensorView& in, const RandKMessage& message, std::byte* out,
            const Context& context) {
  const SparseGrid& grid = message.grid;
  expect_fits(grid, "randk");
  DeviceWorkspace workspace(context.workspace, "randk");
  const RandKArrays arrays = randk_arrays(message, workspace);
  draw(message, arrays, context.stream);
  with_type(in.dtype, [&]<class T>(T) {
    TERSOR_LAUNCH(send_values<T>, grid_of(blocks_for(grid.entries, kThreads), "randk"), kThreads, 0,
                  context.stream, static_cast<const typename T::Storage*>(in.data),
                  static_cast<const std::uint32_t*>(arrays.positions), grid.entries, grid.coding,
                  message.has_indices, message.has_indices ? grid.index_bytes : 0, out);
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
  if (message.is_unbiased) {
    const auto n = static_cast<double>(grid.elements);
    job.scale.kind = message.is_stratified ? ValueScale::kStrata : ValueScale::kFactor;
    job.scale.factor = static_cast<float>(n / static_cast<double>(grid.entries));
    job.scale.elements = static_cast<std::uint64_t>(grid.elements);
    job.scale.entries = static_cast<std::uint64_t>(grid.entries);
  }
  if (message.has_indices) {
    job.mark_ranks = take_mark_ranks(grid, workspace);
    job.chunks = mark_chunks(grid);
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
