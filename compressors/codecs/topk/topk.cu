// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/topk/topk.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/select.cuh"
#include "compressors/device/sparse.cuh"
#include "compressors/device/sparse_pack.cuh"

// Channels are transposed into the workspace and then selected from as rows. A wrapper's feedback
// (encode_sources.cuh) is read beside the tensor and rewritten by the pass that writes the payload:
//
//   x, feedback --select--> the k largest of x +- feedback --> payload
//                                                              \-> feedback
//
// of channels by the pass that transposes them, as if nothing were sent, and then where it was.

namespace tersor::compressors {
namespace {

using namespace device;

/// transpose() of x +- feedback, rounded; the feedback becomes its base plus 0.
template <class T>
__global__ void __launch_bounds__(kThreads)
    transpose_feedback(FeedbackTensor<T> from, std::int64_t rows, std::int64_t columns,
                       typename T::Storage* to) {
  TERSOR_SHARED_ARRAY(typename T::Storage, square, kTransposed * (kTransposed + 1));
  transpose_square(rows, columns, square, to, [&](std::int64_t i) {
    float base;
    const float x = Source<WithFeedback<T>>::at(from, i, base);
    const float left = __fadd_rn(base, 0.0f);
    if (bits_of(left) != bits_of(from.feedback[i])) from.feedback[i] = left;
    return T::round(x);
  });
}

/// Adds what was sent of channels to the feedback.
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_sent(const __grid_constant__ SparseGrid grid, const std::uint32_t* positions,
             const std::byte* values, float* feedback) {
  const std::int64_t entry = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (entry >= grid.entries) return;
  float sent;
  if constexpr (kIsPaired<T>)
    sent = float_of(load_bytes<std::uint32_t>(values + 4 * entry));
  else
    sent = T::widen(load_bytes<std::uint16_t>(values + 2 * entry));
  float& own = feedback[positions[entry] * grid.hidden + entry / grid.full.selected];
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
  const SampleRanks ranks = sample_ranks(grid.full.length, grid.full.selected);
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
    auto* const transposed = static_cast<Storage*>(arrays.transposed);
    TERSOR_LAUNCH(transpose<Storage>, squares_of(grid), kThreads, 0, stream, from, grid.rows,
                  grid.hidden, transposed);
    from = transposed;
  }
  select(TensorSource<T>{from}, grid, arrays, drops_ties, out, stream);
}

template <class T>
void encode_feedback_as(const FeedbackTensor<T>& from, const SparseGrid& grid,
                        const TopKArrays& arrays, bool drops_ties, std::byte* out, void* stream) {
  if (!grid.is_columns)
    return select(FeedbackSource<T>{from}, grid, arrays, drops_ties, out, stream);
  auto* const transposed = static_cast<typename T::Storage*>(arrays.transposed);
  TERSOR_LAUNCH(transpose_feedback<T>, squares_of(grid), kThreads, 0, stream, from, grid.rows,
                grid.hidden, transposed);
  select(TensorSource<T>{transposed}, grid, arrays, drops_ties, out, stream);
  TERSOR_LAUNCH(add_sent<T>, grid_of(blocks_for(grid.entries, kThreads), "topk"), kThreads, 0,
                stream, grid, static_cast<const std::uint32_t*>(arrays.positions),
                static_cast<const std::byte*>(out + grid.index_bytes), from.feedback);
}

void encode(const TensorView& in, const FeedbackArray& feedback, const SparseGrid& grid,
            bool drops_ties, std::byte* out, const Context& context) {
  expect_fits(grid, "topk");
  const bool has_feedback = feedback.values != nullptr;
  DeviceWorkspace workspace(context.workspace, "topk");
  const TopKArrays arrays = topk_arrays(grid, in.dtype, has_feedback, workspace);
  with_type(in.dtype, [&]<class T>(T) {
    const auto* from = static_cast<const typename T::Storage*>(in.data);
    if (has_feedback)
      encode_feedback_as<T>(
          {from, feedback.values, feedback.meaning == FeedbackArray::kNegativeError}, grid, arrays,
          drops_ties, out, context.stream);
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
  job.flag_ranks = take_flag_ranks(grid, workspace);
  job.chunks = flag_chunks(grid);
  launch_decode(job, payloads, target, "topk", context.stream);
}

constexpr TopKLaunchers kLaunchers{encode, decode};
const DeviceTable<TopKLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
