// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/blocks.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "compressors/api/workspace.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

constexpr int kMostSlots = 16;

// Calls reduce(begin, end, slot) for parts of the tensor on several threads: parts of whole rows or
// samples, whose scopes are their own, with slot 0; or parts of the one scope, each with its slot.
// Returns how many slots were used.
template <class Reduce>
int for_each_part(const TensorView& in, const ScopeGrid& grid, int threads, Reduce&& reduce) {
  const std::int64_t n = in.shape.elements();
  if (threads <= 1 || n < kParallelElements) {
    reduce(std::int64_t{0}, n, 0);
    return 1;
  }
  if (grid.scope() == Scope::kTensor) {
    const int slots = std::min(threads, kMostSlots);
    const std::int64_t share = (n / slots / kBlockElements + 1) * kBlockElements;
    parallel_for(threads, slots, [&](std::int64_t slot) {
      reduce(std::min(n, slot * share), std::min(n, (slot + 1) * share), static_cast<int>(slot));
    });
    return slots;
  }
  const std::int64_t unit =
      grid.scope() == Scope::kSample ? in.shape.tokens * in.shape.hidden : in.shape.hidden;
  const std::int64_t part = std::max<std::int64_t>(1, kPieceElements / unit) * unit;
  parallel_for(threads, (n - 1) / part + 1, [&](std::int64_t piece) {
    reduce(piece * part, std::min(n, (piece + 1) * part), 0);
  });
  return 1;
}

// Calls reduce(first channel, count) for stripes of channels, a stripe a piece.
template <class Reduce>
void for_each_stripe(const TensorView& in, int threads, Reduce&& reduce) {
  const std::int64_t hidden = in.shape.hidden;
  const bool is_parallel = threads > 1 && in.shape.elements() >= kParallelElements;
  const std::int64_t stripe =
      is_parallel ? std::min(kBlockElements, (hidden / threads / 64 + 1) * 64) : kBlockElements;
  parallel_for(threads, (hidden - 1) / stripe + 1, [&](std::int64_t piece) {
    reduce(piece * stripe, std::min(stripe, hidden - piece * stripe));
  });
}

void channel_mean(const TensorView& in, bool squares, std::span<float> mean, Scratch& scratch) {
  constexpr std::int64_t kLanes = 32;
  const std::int64_t hidden = in.shape.hidden;
  const std::int64_t rows = in.shape.rows();
  const std::int64_t blocks = (rows + kBlockElements - 1) / kBlockElements;
  const std::span<float> lanes = scratch.take<float>(kLanes * hidden);
  const std::span<float> sums = scratch.take<float>(blocks * hidden);
  std::array<float, kBlockElements> buffer;
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::fill(lanes.begin(), lanes.end(), 0.0f);
    const std::int64_t last = std::min(rows, (block + 1) * kBlockElements);
    for (std::int64_t row = block * kBlockElements; row < last; ++row) {
      float* lane = lanes.data() + row % kLanes * hidden;
      for (std::int64_t column = 0; column < hidden; column += kBlockElements) {
        const std::int64_t count = std::min(kBlockElements, hidden - column);
        const float* x = load_block(in, row * hidden + column, count, buffer.data());
        kernels::lane_sum_each(x, count, squares, lane + column);
      }
    }
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
      kernels::add(lanes.data() + half * hidden, half * hidden, lanes.data());
    std::copy_n(lanes.data(), hidden, sums.data() + block * hidden);
  }
  fold_rows(sums.data(), blocks, hidden);
  for (std::int64_t i = 0; i < hidden; ++i)
    mean[static_cast<std::size_t>(i)] =
        sums[static_cast<std::size_t>(i)] / static_cast<float>(rows);
}

}  // namespace

void fold_rows(float* sums, std::int64_t blocks, std::int64_t width) {
  auto size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks)));
  std::int64_t filled = blocks;
  while (size > 1) {
    size /= 2;
    if (filled > size) {
      kernels::add(sums + size * width, (filled - size) * width, sums);
      filled = size;
    }
  }
}

const float* load_block(const TensorView& in, std::int64_t begin, std::int64_t count,
                        float* buffer) {
  if (in.dtype == DType::kFloat32) return static_cast<const float*>(in.data) + begin;
  const auto* from = static_cast<const std::uint16_t*>(in.data) + begin;
  if (in.dtype == DType::kFloat16)
    kernels::widen_float16(from, count, buffer);
  else
    kernels::widen_bfloat16(from, count, buffer);
  return buffer;
}

namespace {

// Calls visit(first, count, values) for values of T at `bytes`: one piece, or, where the address is
// not one of a T, pieces of a copy.
template <class T, class Visit>
void for_each_aligned(const std::byte* bytes, std::int64_t count, Visit&& visit) {
  if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(T) == 0)
    return visit(std::int64_t{0}, count, reinterpret_cast<const T*>(bytes));
  std::array<T, 512> copy;
  for (std::int64_t begin = 0; begin < count; begin += std::ssize(copy)) {
    const std::int64_t size = std::min<std::int64_t>(std::ssize(copy), count - begin);
    std::memcpy(copy.data(), bytes + static_cast<std::size_t>(begin) * sizeof(T),
                static_cast<std::size_t>(size) * sizeof(T));
    visit(begin, size, static_cast<const T*>(copy.data()));
  }
}

// The same for values that visit(first, count, values) writes.
template <class T, class Visit>
void fill_aligned(std::byte* bytes, std::int64_t count, Visit&& visit) {
  if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(T) == 0)
    return visit(std::int64_t{0}, count, reinterpret_cast<T*>(bytes));
  std::array<T, 512> copy;
  for (std::int64_t begin = 0; begin < count; begin += std::ssize(copy)) {
    const std::int64_t size = std::min<std::int64_t>(std::ssize(copy), count - begin);
    visit(begin, size, copy.data());
    std::memcpy(bytes + static_cast<std::size_t>(begin) * sizeof(T), copy.data(),
                static_cast<std::size_t>(size) * sizeof(T));
  }
}

}  // namespace

void widen_values(const std::byte* from, DType dtype, std::int64_t count, float* out) {
  if (count == 0) return;
  if (dtype == DType::kFloat32) {
    std::memcpy(out, from, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  const auto widen = dtype == DType::kFloat16 ? kernels::widen_float16 : kernels::widen_bfloat16;
  for_each_aligned<std::uint16_t>(from, count, [&](auto begin, auto size, const auto* values) {
    // A tensor that no cache holds is read in bursts, each asked for while the one before it is
    // widened: alternating reads and writes of a cache line are a fifth slower there.
    constexpr std::int64_t kBurst = 512;
    for (std::int64_t at = 0; at < size; at += kBurst) {
      for (std::int64_t ahead = kBurst; ahead < 2 * kBurst; ahead += 32)
        __builtin_prefetch(values + at + ahead);
      widen(values + at, std::min(kBurst, size - at), out + begin + at);
    }
  });
}

void round_values(const float* from, DType dtype, std::int64_t count, std::byte* to) {
  if (dtype == DType::kFloat32) {
    return fill_aligned<float>(to, count, [&](auto begin, auto size, float* values) {
      for (std::int64_t i = 0; i < size; ++i) {
        const float x = from[begin + i];
        values[i] = is_nan(x) ? float_of(kNan32) : x;
      }
    });
  }
  const auto round = dtype == DType::kFloat16 ? kernels::round_float16 : kernels::round_bfloat16;
  fill_aligned<std::uint16_t>(to, count, [&](auto begin, auto size, std::uint16_t* values) {
    round(from + begin, size, values);
  });
}

void round_block(const TensorView& in, std::int64_t begin, std::int64_t count, DType dtype,
                 std::byte* to) {
  if (in.dtype == dtype && dtype != DType::kFloat32) {
    const auto canonical =
        dtype == DType::kFloat16 ? kernels::canonical_float16 : kernels::canonical_bfloat16;
    const auto* from = static_cast<const std::uint16_t*>(in.data) + begin;
    return fill_aligned<std::uint16_t>(to, count,
                                       [&](auto first, auto size, std::uint16_t* values) {
                                         canonical(from + first, size, values);
                                       });
  }
  std::array<float, kBlockElements> buffer;
  round_values(load_block(in, begin, count, buffer.data()), dtype, count, to);
}

void add_values(const std::byte* from, DType dtype, std::int64_t count, float* out) {
  if (dtype == DType::kFloat32) {
    return for_each_aligned<float>(from, count, [&](auto begin, auto size, const float* values) {
      kernels::add(values, size, out + begin);
    });
  }
  const auto add = dtype == DType::kFloat16 ? kernels::add_float16 : kernels::add_bfloat16;
  for_each_aligned<std::uint16_t>(from, count, [&](auto begin, auto size, const auto* values) {
    add(values, size, out + begin);
  });
}

void expand_scopes(const ScopeGrid& grid, const Shape& shape, std::int64_t begin, std::int64_t end,
                   const float* values, float* out) {
  for_each_run(grid, shape, begin, end,
               [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                 std::fill(out + (first - begin), out + (last - begin), values[scope]);
               });
}

LocalScopes local_scopes(const ScopeGrid& grid, const Shape& shape) {
  const bool is_even = grid.scope() == Scope::kToken ||
                       (grid.scope() == Scope::kGroup && shape.hidden % grid.group() == 0);
  if (!is_even || has_short_runs(grid)) return {};
  const std::int64_t length = grid.longest();
  const std::int64_t unit = std::lcm(length, std::int64_t{8});
  if (unit > kMostLocal) return {};
  return {length, std::max<std::int64_t>(1, kBlockElements / unit) * unit};
}

bool scope_absmax(const TensorView& in, const ScopeGrid& grid, std::span<float> largest,
                  int threads) {
  std::fill(largest.begin(), largest.end(), 0.0f);
  if (in.shape.elements() == 0) return true;
  std::atomic<bool> are_finite = true;
  if (!grid.is_contiguous()) {
    // Some rows at a time, so that a line of the maxima is read and written once for all of them.
    constexpr std::int64_t kRows = 16;
    const std::int64_t hidden = in.shape.hidden;
    for_each_stripe(in, threads, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t row = 0; row < in.shape.rows(); row += kRows)
        if (!kernels::max_magnitude_each({in, row * hidden + first},
                                         std::min(kRows, in.shape.rows() - row), hidden, count,
                                         largest.data() + first))
          are_finite = false;
    });
    return are_finite;
  }
  std::array<float, kMostSlots> parts{};
  const bool is_whole = grid.scope() == Scope::kTensor;
  const int slots =
      for_each_part(in, grid, threads, [&](std::int64_t begin, std::int64_t end, int slot) {
        float* const to = is_whole ? &parts[static_cast<std::size_t>(slot)] : largest.data();
        for_each_run(grid, in.shape, begin, end,
                     [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                       if (!kernels::max_magnitude({in, first}, last - first, to[scope]))
                         are_finite = false;
                     });
      });
  if (is_whole) largest[0] = *std::max_element(parts.begin(), parts.begin() + slots);
  return are_finite;
}

bool scope_min_max(const TensorView& in, const ScopeGrid& grid, std::span<float> low,
                   std::span<float> high, int threads) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::fill(low.begin(), low.end(), kInfinity);
  std::fill(high.begin(), high.end(), -kInfinity);
  if (in.shape.elements() == 0) return true;
  std::atomic<bool> are_finite = grid.is_contiguous();
  if (!grid.is_contiguous()) {
    for_each_stripe(in, threads, [&](std::int64_t first, std::int64_t count) {
      std::array<float, kBlockElements> buffer;
      for (std::int64_t row = 0; row < in.shape.rows(); ++row)
        kernels::min_max_each(load_block(in, row * in.shape.hidden + first, count, buffer.data()),
                              count, low.data() + first, high.data() + first);
    });
  } else {
    std::array<float, kMostSlots> lows;
    std::array<float, kMostSlots> highs;
    lows.fill(kInfinity);
    highs.fill(-kInfinity);
    const bool is_whole = grid.scope() == Scope::kTensor;
    const int slots =
        for_each_part(in, grid, threads, [&](std::int64_t begin, std::int64_t end, int slot) {
          const auto own = static_cast<std::size_t>(slot);
          float* const to_low = is_whole ? &lows[own] : low.data();
          float* const to_high = is_whole ? &highs[own] : high.data();
          for_each_run(
              grid, in.shape, begin, end,
              [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                if (!kernels::min_max({in, first}, last - first, to_low[scope], to_high[scope]))
                  are_finite = false;
              });
        });
    if (is_whole) {
      low[0] = *std::min_element(lows.begin(), lows.begin() + slots);
      high[0] = *std::max_element(highs.begin(), highs.begin() + slots);
    }
  }
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (low[i] > high[i]) low[i] = high[i] = 0.0f;
  }
  return are_finite;
}

void scope_mean(const TensorView& in, const ScopeGrid& grid, bool squares, std::span<float> mean,
                const Context& context) {
  if (grid.is_contiguous())
    return scope_mean(in, grid, squares, mean, context,
                      [](std::int64_t, std::int64_t, const float*) {});
  Scratch scratch(context);
  channel_mean(in, squares, mean, scratch);
}

std::size_t mean_workspace_bytes(const ScopeGrid& grid, const Shape& shape) {
  if (grid.is_contiguous())
    return Scratch::bytes_for<float>((grid.longest() + kBlockElements - 1) / kBlockElements);
  const std::int64_t blocks = (shape.rows() + kBlockElements - 1) / kBlockElements;
  return Scratch::bytes_for<float>(32 * shape.hidden) +
         Scratch::bytes_for<float>(blocks * shape.hidden);
}

}  // namespace tersor::compressors
