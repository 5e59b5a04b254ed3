// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/device_table.hpp"
#include "compressors/api/select.cuh"
#include "compressors/api/sparse.cuh"
#include "compressors/api/sparse_pack.cuh"
#include "compressors/topk/topk.hpp"

// Channels are turned over into the workspace and then selected from as rows.

namespace tersor::compressors {
namespace {

using namespace device;

template <class T>
void encode_as(const TensorView& in, const SparseGrid& grid, const TopKArrays& arrays,
               bool drops_ties, std::byte* out, void* stream) {
  using Storage = typename T::Storage;
  const auto* from = static_cast<const Storage*>(in.data);
  if (grid.is_columns) {
    auto* const turned = static_cast<Storage*>(arrays.turned);
    const std::int64_t squares =
        blocks_for(grid.rows, kTransposed) * blocks_for(grid.hidden, kTransposed);
    TERSOR_LAUNCH(transpose<Storage>, grid_of(squares, "topk"), kThreads, 0, stream, from,
                  grid.rows, grid.hidden, turned);
    from = turned;
  }
  SelectJob<TensorSource<T>> job{};
  job.source = {from};
  job.grid = grid;
  job.plan = arrays.plan;
  job.payload = out;
  job.positions = arrays.positions;
  job.drops_ties = drops_ties;
  const SampleRanks ranks = sample_ranks(grid.full.length, grid.full.kept);
  job.low_rank = ranks.low;
  job.high_rank = ranks.high;
  if (grid.full.length <= kLongestInRegisters)
    launch_select_short(job, "topk", stream);
  else
    launch_select_long(job, "topk", stream);
  if (grid.coding == IndexCoding::kEliasFano)
    launch_pack(grid, arrays.positions, out, "topk", stream);
}

void encode(const TensorView& in, const SparseGrid& grid, bool drops_ties, std::byte* out,
            const Context& context) {
  expect_fits(grid, "topk");
  DeviceWorkspace workspace(context.workspace, "topk");
  const TopKArrays arrays = topk_arrays(grid, in.dtype, workspace);
  with_type(in.dtype,
            [&]<class T>(T) { encode_as<T>(in, grid, arrays, drops_ties, out, context.stream); });
}

void decode(std::span<const std::span<const std::byte>> payloads, const SparseGrid& grid,
            DType dtype, const DecodeTarget& target, const Context& context) {
  expect_fits(grid, "topk");
  DeviceWorkspace workspace(context.workspace, "topk");
  SparseJob job{};
  job.grid = grid;
  job.dtype = dtype;
  job.mark_ranks = take_mark_ranks(grid, workspace);
  job.chunks = mark_chunks(grid);
  launch_decode(job, payloads, target, "topk", context.stream);
}

constexpr TopKLaunchers kLaunchers{encode, decode};
const DeviceTable<TopKLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
