// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/api/codec.hpp"
#include "compressors/api/kernels.hpp"
#include "compressors/api/parallel.hpp"
#include "compressors/api/scopes.hpp"
#include "compressors/api/workspace.hpp"

/// Passes over a tensor in blocks that stay in the first cache: widen, compute, pack.
namespace tersor::compressors {

/// Elements of one block: a block of the fixed tree, and a multiple of 8, so that a block of codes
/// of any width fills whole bytes.
inline constexpr std::int64_t kBlockElements = 4096;

/// Messages of fewer elements are not worth a second thread; a larger one is cut in such pieces.
inline constexpr std::int64_t kParallelElements = std::int64_t{1} << 18;
inline constexpr std::int64_t kPieceElements = std::int64_t{1} << 16;

/// Calls visit(first element, count) for every block of n elements, on `threads` threads; blocks
/// start at multiples of kBlockElements.
template <class Visit>
void for_each_block(std::int64_t n, int threads, Visit&& visit) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += kBlockElements)
      visit(begin, std::min(kBlockElements, end - begin));
  };
  if (threads <= 1 || n < kParallelElements) return run(0, n);
  parallel_for(threads, (n - 1) / kPieceElements + 1, [&](std::int64_t piece) {
    run(piece * kPieceElements, std::min(n, (piece + 1) * kPieceElements));
  });
}

/// Elements begin .. begin+count-1 (count <= kBlockElements) as float32: the tensor itself where it
/// is float32, else widened into `buffer`.
const float* load_block(const TensorView& in, std::int64_t begin, std::int64_t count,
                        float* buffer);
/// count values of `dtype` at `from` (unaligned) to float32; exact.
void widen_values(const std::byte* from, DType dtype, std::int64_t count, float* out);
/// Rounds count values to `dtype` (METHODS section 1, "dtype") at `to` (unaligned).
void round_values(const float* from, DType dtype, std::int64_t count, std::byte* to);
/// out[i] += values of `dtype` at `from` (unaligned).
void add_values(const std::byte* from, DType dtype, std::int64_t count, float* out);

/// Calls visit(begin, end, scope) for each piece of elements [begin, end) that lies in one scope,
/// or, for channel scopes, in one row: `scope` is then the channel of the first element and each
/// element has the next one.
template <class Visit>
void for_each_run(const ScopeGrid& grid, const Shape& shape, std::int64_t begin, std::int64_t end,
                  Visit&& visit) {
  std::int64_t length = 0;  // elements of a run that starts at its own beginning
  switch (grid.scope()) {
    case Scope::kTensor: return visit(begin, end, std::int64_t{0});
    case Scope::kSample: length = shape.tokens * shape.hidden; break;
    case Scope::kToken: length = shape.hidden; break;
    case Scope::kChannel: {
      std::int64_t channel = begin % shape.hidden;
      while (begin < end) {
        const std::int64_t stop = std::min(end, begin + shape.hidden - channel);
        visit(begin, stop, channel);
        begin = stop;
        channel = 0;
      }
      return;
    }
    case Scope::kGroup: {
      const std::int64_t group = grid.group();
      const std::int64_t per_row = (shape.hidden - 1) / group + 1;
      std::int64_t row = begin / shape.hidden;
      std::int64_t column = begin % shape.hidden;
      while (begin < end) {
        const std::int64_t in_row = column / group;
        const std::int64_t next = std::min((in_row + 1) * group, shape.hidden);
        const std::int64_t stop = std::min(end, begin + next - column);
        visit(begin, stop, row * per_row + in_row);
        begin = stop;
        column = next;
        if (column == shape.hidden) {
          column = 0;
          ++row;
        }
      }
      return;
    }
  }
  std::int64_t scope = begin / length;
  while (begin < end) {
    const std::int64_t stop = std::min(end, (scope + 1) * length);
    visit(begin, stop, scope++);
    begin = stop;
  }
}

/// Scopes shorter than this cost a call of a kernel per run: spread their values over the elements
/// instead, and call it once a block.
inline constexpr std::int64_t kShortRun = 64;
inline bool has_short_runs(const ScopeGrid& grid) {
  return grid.is_contiguous() && grid.longest() < kShortRun;
}
/// out[i - begin] = values[scope of element i], for elements [begin, end).
void spread_scopes(const ScopeGrid& grid, const Shape& shape, std::int64_t begin, std::int64_t end,
                   const float* values, float* out);

/// Calls visit(first, last, values, is_per_element) for pieces of elements [begin, end) (of one
/// block): `values` are those of `per_scope` for the piece's elements, or the one value of its
/// scope. `buffer` has room for a block.
template <class Visit>
void for_each_scaled(const ScopeGrid& grid, const Shape& shape, std::int64_t begin,
                     std::int64_t end, const float* per_scope, float* buffer, Visit&& visit) {
  if (has_short_runs(grid)) {
    spread_scopes(grid, shape, begin, end, per_scope, buffer);
    visit(begin, end, static_cast<const float*>(buffer), true);
    return;
  }
  const bool is_per_element = !grid.is_contiguous();
  for_each_run(grid, shape, begin, end,
               [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                 visit(first, last, per_scope + scope, is_per_element);
               });
}

/// Largest finite magnitude of each scope (0 where there is none).
void scope_absmax(const TensorView& in, const ScopeGrid& grid, std::span<float> largest,
                  int threads = 1);
/// Smallest and largest finite element of each scope, -0 as +0; 0 and 0 where there is none.
void scope_min_max(const TensorView& in, const ScopeGrid& grid, std::span<float> low,
                   std::span<float> high, int threads = 1);
/// Mean of |x| or x*x of each scope by the fixed tree (METHODS section 1).
void scope_mean(const TensorView& in, const ScopeGrid& grid, bool squares, std::span<float> mean,
                const Context& context);
/// Folds `blocks` rows of `width` values, by halves of the next power of two, into row 0.
void fold_rows(float* sums, std::int64_t blocks, std::int64_t width);
/// scope_mean of a contiguous scope; calls visit(first element, count, values) for every block that
/// it sums, while the block is in the first cache.
template <class Visit>
void scope_mean(const TensorView& in, const ScopeGrid& grid, bool squares, std::span<float> mean,
                const Context& context, Visit&& visit) {
  Scratch scratch(context);
  const std::int64_t longest = grid.longest();
  const std::span<float> sums =
      scratch.take<float>((longest + kBlockElements - 1) / kBlockElements);
  std::array<float, kBlockElements> buffer;
  for (std::int64_t s = 0; s < grid.count(); ++s) {
    const ScopeSlice slice = grid[s];
    std::int64_t blocks = 0;
    for (std::int64_t begin = 0; begin < slice.length; begin += kBlockElements) {
      const std::int64_t count = std::min(kBlockElements, slice.length - begin);
      const float* x = load_block(in, slice.begin + begin, count, buffer.data());
      sums[static_cast<std::size_t>(blocks++)] = kernels::block_sum(x, count, squares);
      visit(slice.begin + begin, count, x);
    }
    fold_rows(sums.data(), blocks, 1);
    mean[static_cast<std::size_t>(s)] = sums[0] / static_cast<float>(slice.length);
  }
}
/// Workspace that scope_mean takes.
std::size_t mean_workspace_bytes(const ScopeGrid& grid, const Shape& shape);

}  // namespace tersor::compressors
