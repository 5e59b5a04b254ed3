// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/topk/topk.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/select.cuh"
#include "compressors/device/sparse.cuh"
#include "compressors/device/sparse_pack.cuh"

// Channels are turned over into the workspace and then selected from as rows. What a wrapper keeps
// (encode_sources.cuh) is read beside the tensor and rewritten by the pass that writes the payload:
//
//   x, kept --select--> the k largest of x +- kept --> payload
//                                                  \-> kept
//
// of channels by the pass that turns them over, as if nothing were sent, and then where it was.

namespace tersor::compressors {
namespace {

using namespace device;

/// transpose() of x +- kept, rounded; what is kept becomes its base plus 0.
template <class T>
__global__ void __launch_bounds__(kThreads)
    transpose_kept(KeptTensor<T> from, std::int64_t rows, std::int64_t columns,
                   typename T::Storage* to) {
  TERSOR_SHARED_ARRAY(typename T::Storage, square, kTransposed * (kTransposed + 1));
  transpose_square(rows, columns, square, to, [&](std::int64_t i) {
    float base;
    const float x = Source<WithKept<T>>::at(from, i, base);
    const float left = __fadd_rn(base, 0.0f);
    if (bits_of(left) != bits_of(from.kept[i])) from.kept[i] = left;
    return T::round(x);
  });
}

/// Adds what was sent of channels to what is kept.
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_sent(const __grid_constant__ SparseGrid grid, const std::uint32_t* positions,
             const std::byte* values, float* kept) {
  const std::int64_t entry = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (entry >= grid.entries) return;
  float sent;
  if constexpr (kIsPaired<T>)
    sent = float_of(load_bytes<std::uint32_t>(values + 4 * entry));
  else
    sent = T::widen(load_bytes<std::uint16_t>(values + 2 * entry));
  float& own = kept[positions[entry] * grid.hidden + entry / grid.full.kept];
  own = __fadd_rn(own, sent);
}

template <class Source>
void select(const Source& source, const SparseGrid& grid, const TopKArrays& arrays, bool drops_ties,
            std::byte* out, void* stream) {
  SelectJob<Source> job{};
  job.source = source;
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

/// With channels the tensor by columns.
unsigned squares_of(const SparseGrid& grid) {
  return grid_of(blocks_for(grid.rows, kTransposed) * blocks_for(grid.hidden, kTransposed), "topk");
}

template <class T>
void encode_as(const typename T::Storage* from, const SparseGrid& grid, const TopKArrays& arrays,
               bool drops_ties, std::byte* out, void* stream) {
  using Storage = typename T::Storage;
  if (grid.is_columns) {
    auto* const turned = static_cast<Storage*>(arrays.turned);
    TERSOR_LAUNCH(transpose<Storage>, squares_of(grid), kThreads, 0, stream, from, grid.rows,
                  grid.hidden, turned);
    from = turned;
  }
  select(TensorSource<T>{from}, grid, arrays, drops_ties, out, stream);
}

template <class T>
void encode_kept_as(const KeptTensor<T>& from, const SparseGrid& grid, const TopKArrays& arrays,
                    bool drops_ties, std::byte* out, void* stream) {
  if (!grid.is_columns) return select(KeptSource<T>{from}, grid, arrays, drops_ties, out, stream);
  auto* const turned = static_cast<typename T::Storage*>(arrays.turned);
  TERSOR_LAUNCH(transpose_kept<T>, squares_of(grid), kThreads, 0, stream, from, grid.rows,
                grid.hidden, turned);
  select(TensorSource<T>{turned}, grid, arrays, drops_ties, out, stream);
  TERSOR_LAUNCH(add_sent<T>, grid_of(blocks_for(grid.entries, kThreads), "topk"), kThreads, 0,
                stream, grid, static_cast<const std::uint32_t*>(arrays.positions),
                static_cast<const std::byte*>(out + grid.index_bytes), from.kept);
}

void encode(const TensorView& in, const KeptArray& kept, const SparseGrid& grid, bool drops_ties,
            std::byte* out, const Context& context) {
  expect_fits(grid, "topk");
  const bool is_kept = kept.values != nullptr;
  DeviceWorkspace workspace(context.workspace, "topk");
  const TopKArrays arrays = topk_arrays(grid, in.dtype, is_kept, workspace);
  with_type(in.dtype, [&]<class T>(T) {
    const auto* from = static_cast<const typename T::Storage*>(in.data);
    if (is_kept)
      encode_kept_as<T>({from, kept.values, kept.meaning == KeptArray::kNegativeError}, grid,
                        arrays, drops_ties, out, context.stream);
    else
      encode_as<T>(from, grid, arrays, drops_ties, out, context.stream);
  });
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
