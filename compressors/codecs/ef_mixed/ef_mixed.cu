// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/ef_mixed/ef_mixed.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/select.cuh"
#include "compressors/device/sparse_pack.cuh"

// Two selections (select.cuh). The first, by |x|, flags its choice in the workspace; the second, by
// |e|, counts what is flagged as larger than every error, so that the k largest are both halves, in
// order. Its last pass sends x + e there and leaves the new error behind:
//
//   x --ceil(k/2) largest--> flags
//   e, flags --k largest--> choice --> x + e rounded --> payload
//                                      e = (x + e) - what was sent
//
// Channels are transposed into the workspace, the error also back.

namespace tersor::compressors {
namespace {

using namespace device;

/// By |x|, for the flags alone.
template <class T>
struct FlaggedSource : TensorSource<T> {
  static constexpr bool kHasValues = false;

  __device__ __forceinline__ void send(const SparseScope&, std::int64_t, std::uint32_t,
                                       const std::uint32_t*, std::uint32_t*) const {}
};

/// By |e|, after everything that is flagged. T: of the message.
template <class T>
struct ErrorSource {
  using Type = T;
  static constexpr bool kPaired = true;
  static constexpr bool kIsSampled = true;
  static constexpr bool kHasValues = true;
  static constexpr bool kHasFeedback = false;             ///< ties are never dropped
  static constexpr int kWritingBlocks = kEncodingBlocks;  ///< for the arithmetic of send()
  static constexpr int kKeyBits = 31;
  static constexpr int kZeroBits = 0;
  static constexpr int kDigits = 3;
  static constexpr std::uint32_t kFlagged = 0x7FFFFFFF;  ///< errors are finite

  const typename T::Storage* in;
  float* error;
  const std::byte* flags;  ///< a byte for each thread tile of a scope

  __device__ __forceinline__ void load(const SparseScope& scope, std::int64_t first,
                                       std::uint32_t* raw) const {
    const std::int64_t count = scope.length - first;
    float e[8];
    load_errors(scope, first, e);
    const unsigned thread_tile = thread_tile_of_lane<true>(lane_of_thread());
    unsigned flagged = 0;
    if (8 * std::int64_t{thread_tile} < count)
      flagged = std::to_integer<unsigned>(flags[scope.first_thread_tile + first / 8 + thread_tile]);
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = (flagged >> i & 1u) != 0 ? kFlagged : bits_of(e[i]);
  }
  __device__ __forceinline__ std::uint32_t load_one(const SparseScope& scope,
                                                    std::int64_t i) const {
    const unsigned flagged = std::to_integer<unsigned>(flags[scope.first_thread_tile + i / 8]);
    return (flagged >> (i % 8) & 1u) != 0 ? kFlagged : key(bits_of(error[scope.begin + i]));
  }
  static __device__ __forceinline__ std::uint32_t key(std::uint32_t raw) {
    return raw & 0x7FFFFFFFu;
  }
  __device__ __forceinline__ void send(const SparseScope& scope, std::int64_t first,
                                       std::uint32_t chosen, const std::uint32_t*,
                                       std::uint32_t* sent) const {
    const std::int64_t count = scope.length - first;
    const auto* const from = in + scope.begin + first;
    float* const feedback = error + scope.begin + first;
    float x[8];
    float e[8];
    load_thread_tile<T, true>(from, count, is_aligned_16(from), x);
    load_errors(scope, first, e);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float total = __fadd_rn(x[i], e[i]);
      const auto rounded = T::round(total);
      sent[i] = bits_of(T::widen(rounded));
      const bool is_chosen = (chosen >> i & 1u) != 0;
      e[i] = finite_or_zero(__fsub_rn(total, is_chosen ? float_of(sent[i]) : 0.0f));
    }
    store_thread_tile<Float32>(feedback, count, is_aligned_16(feedback), e);
  }

 private:
  __device__ __forceinline__ void load_errors(const SparseScope& scope, std::int64_t first,
                                              float* e) const {
    const float* const feedback = error + scope.begin + first;
    load_thread_tile<Float32>(feedback, scope.length - first, is_aligned_16(feedback), e);
  }
};

/// The half of each scope that the message chooses, as a bitmap.
SparseGrid first_half(SparseGrid grid) {
  for (SparseScope* const scope : {&grid.full, &grid.tail}) {
    scope->selected = (scope->selected + 1) / 2;
    scope->index_at = SparseGrid::thread_tiles(*scope);
  }
  grid.coding = IndexCoding::kBitmap;
  grid.index_bytes = 0;
  return grid;
}

template <class Source>
void select(SelectJob<Source> job, void* stream) {
  const SparseScope& full = job.grid.full;
  const SampleRanks ranks = sample_ranks(full.length, full.selected);
  job.low_rank = ranks.low;
  job.high_rank = ranks.high;
  if (full.length <= kLongestInRegisters)
    launch_select_short(job, "ef_mixed", stream);
  else
    launch_select_long(job, "ef_mixed", stream);
}

template <class Word>
void launch_transpose(const Word* from, std::int64_t rows, std::int64_t columns, Word* to,
                      void* stream) {
  const std::int64_t squares = blocks_for(rows, kTransposed) * blocks_for(columns, kTransposed);
  TERSOR_LAUNCH(transpose<Word>, grid_of(squares, "ef_mixed"), kThreads, 0, stream, from, rows,
                columns, to);
}

template <class T>
void encode_as(const TensorView& in, float* error, const SparseGrid& grid,
               const EfMixedArrays& arrays, std::byte* out, void* stream) {
  using Storage = typename T::Storage;
  const auto* from = static_cast<const Storage*>(in.data);
  float* feedback = error;
  if (grid.is_columns) {
    auto* const transposed = static_cast<Storage*>(arrays.selection.transposed);
    feedback = arrays.transposed_error;
    launch_transpose(from, grid.rows, grid.hidden, transposed, stream);
    launch_transpose<float>(error, grid.rows, grid.hidden, feedback, stream);
    from = transposed;
  }
  SelectJob<FlaggedSource<T>> first{};
  first.source.in = from;
  first.grid = first_half(grid);
  first.plan = arrays.selection.plan;
  first.payload = arrays.flags;
  select(first, stream);
  SelectJob<ErrorSource<T>> second{};
  second.source = {from, feedback, arrays.flags};
  second.grid = grid;
  second.plan = arrays.selection.plan;
  second.payload = out;
  second.positions = arrays.selection.positions;
  select(second, stream);
  if (grid.coding == IndexCoding::kEliasFano)
    launch_pack(grid, arrays.selection.positions, out, "ef_mixed", stream);
  if (grid.is_columns) launch_transpose<float>(feedback, grid.hidden, grid.rows, error, stream);
}

void encode(const TensorView& in, float* error, const SparseGrid& grid, std::byte* out,
            const Context& context) {
  expect_fits(grid, "ef_mixed");
  DeviceWorkspace workspace(context.workspace, "ef_mixed");
  const EfMixedArrays arrays = ef_mixed_arrays(grid, in.dtype, workspace);
  with_type(in.dtype,
            [&]<class T>(T) { encode_as<T>(in, error, grid, arrays, out, context.stream); });
}

constexpr EfMixedLaunchers kLaunchers{encode};
const DeviceTable<EfMixedLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors
