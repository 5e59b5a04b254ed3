// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/api/codec.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/host/parallel.hpp"
#include "compressors/wire/scopes.hpp"

/// Passes over a tensor in blocks that stay in the first cache: widen, compute, pack.
namespace tersor::compressors {

/// Elements of one block: a block of the fixed tree, and a multiple of 8, so that a block of codes
/// of any width fills whole bytes.
inline constexpr std::int64_t kBlockElements = 4096;

/// Messages of fewer elements are not worth a second thread; a larger one is cut in such pieces.
inline constexpr std::int64_t kParallelElements = std::int64_t{1} << 18;
inline constexpr std::int64_t kPieceElements = std::int64_t{1} << 16;

/// Calls visit(first element, count) for every block of n elements, on `threads` threads; blocks
/// start at multiples of `block`.
template <class Visit>
void for_each_block_of(std::int64_t block, std::int64_t n, int threads, Visit&& visit) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += block) visit(begin, std::min(block, end - begin));
  };
  if (threads <= 1 || n < kParallelElements) return run(0, n);
  const std::int64_t piece = std::max<std::int64_t>(1, kPieceElements / block) * block;
  parallel_for(threads, (n - 1) / piece + 1,
               [&](std::int64_t at) { run(at * piece, std::min(n, (at + 1) * piece)); });
}
template <class Visit>
void for_each_block(std::int64_t n, int threads, Visit&& visit) {
  for_each_block_of(kBlockElements, n, threads, visit);
}

/// Contiguous scopes of one length, in blocks of whole scopes: a codec measures and codes each
/// while it is in the first cache.
struct LocalScopes {
  std::int64_t length = 0;  ///< elements of a scope; 0: the scopes of this grid are not local
  std::int64_t block = 0;   ///< elements of a block, a multiple of 8 and of the length
  explicit operator bool() const { return length != 0; }
};
/// The most elements of such a block.
inline constexpr std::int64_t kMostLocal = 16384;
LocalScopes local_scopes(const ScopeGrid& grid, const Shape& shape);

/// Calls visit(payload, first element, count, adds) for each of `payloads` payloads of every block:
/// the first payload overwrites the block unless `is_accumulated`, the others add to it.
template <class Visit>
void sum_blocks(std::int64_t block, std::int64_t n, int threads, std::size_t payloads,
                bool is_accumulated, Visit&& visit) {
  for_each_block_of(block, n, threads, [&](std::int64_t begin, std::int64_t count) {
    for (std::size_t p = 0; p < payloads; ++p) visit(p, begin, count, is_accumulated || p > 0);
  });
}

/// The codes of elements begin .. begin+count-1 of a payload, begin a multiple of 8: in place where
/// they are bytes, else in `buffer`, which has room for them, until pack().
class PackedBlock {
 public:
  PackedBlock(std::byte* packed, std::int64_t begin, std::int64_t count, int width,
              std::uint8_t* buffer)
      : to_(packed + begin / 8 * width),
        count_(count),
        width_(width),
        codes_(width == 8 ? reinterpret_cast<std::uint8_t*>(to_) : buffer) {}
  std::uint8_t* codes() const { return codes_; }
  void pack() const {
    if (width_ != 8) kernels::pack_bits(codes_, count_, width_, to_);
  }

 private:
  std::byte* to_;
  std::int64_t count_;
  int width_;
  std::uint8_t* codes_;
};

/// The reverse: codes of such a block, in place or unpacked into `buffer`.
inline const std::uint8_t* unpack_block(const std::byte* packed, std::int64_t begin,
                                        std::int64_t count, int width, std::uint8_t* buffer) {
  const std::byte* from = packed + begin / 8 * width;
  if (width == 8) return reinterpret_cast<const std::uint8_t*>(from);
  kernels::unpack_bits(from, count, width, buffer);
  return buffer;
}

/// Elements begin .. begin+count-1 (count <= kBlockElements) as float32: the tensor itself where it
/// is float32, else widened into `buffer`.
const float* load_block(const TensorView& in, std::int64_t begin, std::int64_t count,
                        float* buffer);
/// count values of `dtype` at `from` (unaligned) to float32; exact.
void widen_values(const std::byte* from, DType dtype, std::int64_t count, float* out);
/// Rounds count values to `dtype` (METHODS section 1, "dtype") at `to` (unaligned).
void round_values(const float* from, DType dtype, std::int64_t count, std::byte* to);
/// The same of elements begin .. begin+count-1 (count <= kBlockElements) of a tensor.
void round_block(const TensorView& in, std::int64_t begin, std::int64_t count, DType dtype,
                 std::byte* to);
/// out[i] += values of `dtype` at `from` (unaligned).
void add_values(const std::byte* from, DType dtype, std::int64_t count, float* out);

/// Calls visit(begin, end, scope) for each piece of elements [begin, end) that is in one scope,
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

/// Scopes shorter than this cost a call of a kernel per run: expanded their values over the
/// elements instead, and call it once a block.
inline constexpr std::int64_t kShortRun = 64;
inline bool has_short_runs(const ScopeGrid& grid) {
  return grid.is_contiguous() && grid.longest() < kShortRun;
}
/// out[i - begin] = values[scope of element i], for elements [begin, end).
void expand_scopes(const ScopeGrid& grid, const Shape& shape, std::int64_t begin, std::int64_t end,
                   const float* values, float* out);

/// Calls visit(first, last, values, is_per_element) for pieces of elements [begin, end) (of one
/// block): `values` are those of `per_scope` for the piece's elements, or the one value of its
/// scope. `buffer` has room for a block.
template <class Visit>
void for_each_scaled(const ScopeGrid& grid, const Shape& shape, std::int64_t begin,
                     std::int64_t end, const float* per_scope, float* buffer, Visit&& visit) {
  if (has_short_runs(grid)) {
    expand_scopes(grid, shape, begin, end, per_scope, buffer);
    visit(begin, end, static_cast<const float*>(buffer), true);
    return;
  }
  const bool is_per_element = !grid.is_contiguous();
  for_each_run(grid, shape, begin, end,
               [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                 visit(first, last, per_scope + scope, is_per_element);
               });
}

/// Largest finite magnitude of each scope (0 where there is none). Returns whether every element is
/// finite.
bool scope_absmax(const TensorView& in, const ScopeGrid& grid, std::span<float> largest,
                  int threads = 1);
/// Smallest and largest finite element of each scope, -0 as +0; 0 and 0 where there is none.
/// Returns what scope_absmax does.
bool scope_min_max(const TensorView& in, const ScopeGrid& grid, std::span<float> low,
                   std::span<float> high, int threads = 1);
/// Mean of |x| or x*x of each scope by the fixed tree (METHODS section 1).
void scope_mean(const TensorView& in, const ScopeGrid& grid, bool squares, std::span<float> mean,
                const Context& context);
/// Folds `blocks` rows of `width` values, by halves of the next power of two, into row 0.
void fold_rows(float* sums, std::int64_t blocks, std::int64_t width);
/// scope_mean of a contiguous scope; calls visit(first element, count, values) for every block that
/// it sums, while the block is in the first cache; blocks of a long scope on several threads.
template <class Visit>
void scope_mean(const TensorView& in, const ScopeGrid& grid, bool squares, std::span<float> mean,
                const Context& context, Visit&& visit) {
  Scratch scratch(context);
  const std::int64_t longest = grid.longest();
  const std::span<float> sums =
      scratch.take<float>((longest + kBlockElements - 1) / kBlockElements);
  for (std::int64_t s = 0; s < grid.count(); ++s) {
    const ScopeSlice slice = grid[s];
    for_each_block(slice.length, context.threads, [&](std::int64_t begin, std::int64_t count) {
      std::array<float, kBlockElements> buffer;
      const float* x = load_block(in, slice.begin + begin, count, buffer.data());
      sums[static_cast<std::size_t>(begin / kBlockElements)] =
          kernels::block_sum(x, count, squares);
      visit(slice.begin + begin, count, x);
    });
    const std::int64_t blocks = (slice.length + kBlockElements - 1) / kBlockElements;
    fold_rows(sums.data(), blocks, 1);
    mean[static_cast<std::size_t>(s)] = sums[0] / static_cast<float>(slice.length);
  }
}
/// Workspace that scope_mean takes.
std::size_t mean_workspace_bytes(const ScopeGrid& grid, const Shape& shape);

}  // namespace tersor::compressors
