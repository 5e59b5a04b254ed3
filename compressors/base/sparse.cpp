// SPDX-License-Identifier: Apache-2.0
#include "compressors/base/sparse.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "compressors/host/blocks.hpp"
#include "compressors/host/index_codings.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

// Values taken at once: their stretch of the dense tensor stays in the second cache at 1 %.
constexpr std::size_t kPieceValues = 512;

// Calls visit(local indices, values) for pieces of the values first .. last-1 of a scope, which
// start at `values`.
template <class Visit>
void for_each_piece(const std::byte* values, DType dtype, std::span<const std::uint32_t> local,
                    std::int64_t first, std::int64_t last, Visit&& visit) {
  std::array<float, kPieceValues> buffer;
  for (; first < last; first += std::ssize(buffer)) {
    const std::int64_t count = std::min<std::int64_t>(std::ssize(buffer), last - first);
    const auto size = static_cast<std::size_t>(count);
    widen_values(values + static_cast<std::size_t>(first) * item_bytes(dtype), dtype, count,
                 buffer.data());
    visit(local.subspan(static_cast<std::size_t>(first), size), std::span(buffer.data(), size));
  }
}

// A payload's scopes: where the indices and the values of each begin.
struct Payload {
  const std::byte* data;
  const SparseLayout& layout;
  const ScopeGrid& grid;
  DType dtype;
  std::string_view codec;

  std::span<std::uint32_t> indices(std::int64_t scope, std::span<std::uint32_t> room) const {
    const std::int64_t length = grid[scope].length;
    const auto local = room.first(static_cast<std::size_t>(layout.selected(length)));
    decode_index(layout.coding(), data + layout.index_bytes_before(scope), length, local, codec);
    return local;
  }
  const std::byte* values(std::int64_t scope) const {
    return data + layout.index_bytes() +
           static_cast<std::size_t>(layout.selected_before(scope)) * item_bytes(dtype);
  }
};

// out = or += a payload whose scopes are channels.
void put_channels(const Payload& payload, ScatterMode mode, std::span<std::uint32_t> index,
                  std::span<float> out) {
  if (mode == ScatterMode::kAssign) std::fill(out.begin(), out.end(), 0.0f);
  for (std::int64_t s = 0; s < payload.grid.count(); ++s) {
    const ScopeSlice slice = payload.grid[s];
    const auto local = payload.indices(s, index);
    float* const to = out.data() + slice.begin;
    std::int64_t next = 0;  // element of the scope
    for_each_piece(payload.values(s), payload.dtype, local, 0, std::ssize(local),
                   [&](std::span<const std::uint32_t> at, std::span<const float> values) {
                     for (std::size_t j = 0; j < at.size(); ++j) {
                       if (mode == ScatterMode::kAdd)
                         for (; next < at[j]; ++next) to[next * slice.stride] += 0.0f;
                       float& x = to[at[j] * slice.stride];
                       x = mode == ScatterMode::kAssign ? values[j] : x + values[j];
                       next = std::int64_t{at[j]} + 1;
                     }
                   });
    if (mode != ScatterMode::kAdd) continue;
    for (; next < slice.length; ++next) to[next * slice.stride] += 0.0f;
  }
}

// A scope is the whole tensor: shares of its values, each with the elements up to the next one.
void put_tensor(const Payload& payload, ScatterMode mode, std::span<std::uint32_t> index,
                std::span<float> out, int threads) {
  const auto local = payload.indices(0, index);
  const auto k = std::ssize(local);
  for_each_share(k, std::ssize(out), threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t) {
                   const auto begin_of = [&](std::int64_t j) -> std::int64_t {
                     if (j == 0 || j == k) return j == 0 ? 0 : std::ssize(out);
                     return std::int64_t{local[static_cast<std::size_t>(j - 1)]} + 1;
                   };
                   Scatter scatter(mode, out.data() + begin_of(first));
                   for_each_piece(payload.values(0), payload.dtype, local, first, last,
                                  [&](std::span<const std::uint32_t> at, std::span<float> values) {
                                    scatter.piece(out.data(), at, values);
                                  });
                   scatter.finish(out.data() + begin_of(last));
                 });
}

void put_scopes(const Payload& payload, ScatterMode mode, std::span<std::uint32_t> index,
                std::span<float> out, int threads) {
  const auto room = static_cast<std::size_t>(payload.layout.most_selected());
  for_each_share(
      payload.grid.count(), std::ssize(out), threads,
      [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
        if (first == last) return;
        Scatter scatter(mode, out.data() + payload.grid[first].begin);
        for (std::int64_t s = first; s < last; ++s) {
          const auto local =
              payload.indices(s, index.subspan(static_cast<std::size_t>(slot) * room, room));
          float* const to = out.data() + payload.grid[s].begin;
          for_each_piece(payload.values(s), payload.dtype, local, 0, std::ssize(local),
                         [&](std::span<const std::uint32_t> at, std::span<float> values) {
                           scatter.piece(to, at, values);
                         });
        }
        const ScopeSlice end = payload.grid[last - 1];
        scatter.finish(out.data() + end.begin + end.length);
      });
}

// Adds values to zeros; whether one of them is -0, of which the sum must know more.
bool add_values_at(const std::byte* values, DType dtype, std::span<const std::uint32_t> local,
                   std::int64_t first, std::int64_t last, float* to) {
  bool found = false;
  for_each_piece(values, dtype, local, first, last,
                 [&](std::span<const std::uint32_t> at, std::span<const float> some) {
                   std::uint32_t zeros = 0;
                   for (const float x : some) zeros |= bits_of(x) == 0x80000000u ? 1u : 0u;
                   found |= zeros != 0;
                   for (std::size_t j = 0; j < at.size(); ++j) to[at[j]] += some[j];
                 });
  return found;
}

// Elements of the output that take the values of all payloads while they are in the first cache.
constexpr std::int64_t kBlock = 8192;

// Zeros and the values of all payloads, of a scope that is the whole tensor, block by block; false
// where a value is -0. `index` also has a cursor for every payload and share.
bool combine_tensor(std::span<const std::span<const std::byte>> received, Payload payload,
                    std::span<std::uint32_t> index, std::span<float> out, int threads) {
  const auto k = static_cast<std::size_t>(payload.layout.selected_of_all());
  const auto local = [&](std::size_t r) { return index.subspan(r * k, k); };
  for (std::size_t r = 0; r < received.size(); ++r) {
    payload.data = received[r].data();
    payload.indices(0, local(r));
  }
  const auto n = std::ssize(out);
  std::atomic<bool> is_plain = true;
  for_each_share((n - 1) / kBlock + 1, n, threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                   const auto cursors = index.subspan(
                       received.size() * (k + static_cast<std::size_t>(slot)), received.size());
                   for (std::size_t r = 0; r < received.size(); ++r) {
                     const auto list = local(r);
                     cursors[r] = static_cast<std::uint32_t>(
                         std::lower_bound(list.begin(), list.end(), first * kBlock) - list.begin());
                   }
                   for (std::int64_t begin = first * kBlock; begin < std::min(n, last * kBlock);
                        begin += kBlock) {
                     const std::int64_t end = std::min(n, begin + kBlock);
                     std::fill(out.data() + begin, out.data() + end, 0.0f);
                     for (std::size_t r = 0; r < received.size(); ++r) {
                       const auto list = local(r);
                       const auto at = list.begin() + cursors[r];
                       const auto furthest = at + std::min<std::int64_t>(kBlock, list.end() - at);
                       const auto stop = std::lower_bound(at, furthest, end) - list.begin();
                       const std::byte* values = received[r].data() + payload.layout.index_bytes();
                       if (add_values_at(values, payload.dtype, list, cursors[r], stop, out.data()))
                         is_plain = false;
                       cursors[r] = static_cast<std::uint32_t>(stop);
                     }
                   }
                 });
  return is_plain;
}

// The same where there are several scopes, one after the other.
bool combine_scopes(std::span<const std::span<const std::byte>> received, const Payload& payload,
                    std::span<std::uint32_t> index, std::span<float> out, int threads) {
  const auto room = static_cast<std::size_t>(payload.layout.most_selected());
  std::atomic<bool> is_plain = true;
  for_each_share(payload.grid.count(), std::ssize(out), threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                   Payload own = payload;
                   for (std::int64_t s = first; s < last; ++s) {
                     const ScopeSlice slice = payload.grid[s];
                     float* const to = out.data() + slice.begin;
                     std::fill_n(to, slice.length, 0.0f);
                     for (const auto& one : received) {
                       own.data = one.data();
                       const auto local = own.indices(
                           s, index.subspan(static_cast<std::size_t>(slot) * room, room));
                       if (add_values_at(own.values(s), own.dtype, local, 0, std::ssize(local), to))
                         is_plain = false;
                     }
                   }
                 });
  return is_plain;
}

// Random reads in ascending order: the cache line of a value is asked for this many values earlier.
constexpr std::size_t kFetchedAhead = 256;

template <class Bits>
std::byte* gather_values(const TensorView& in, const ScopeSlice& slice,
                         std::span<const std::uint32_t> local, std::int64_t count,
                         Bits largest_infinity, Bits canonical_nan, std::byte* out) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  const Bits* from = static_cast<const Bits*>(in.data) + slice.begin;
  const auto size = static_cast<std::size_t>(count);
  const auto send = [&](std::size_t j) {
    const Bits bits = from[local[j] * slice.stride];
    store(out + j * sizeof(Bits), (bits & kMagnitude) > largest_infinity ? canonical_nan : bits);
  };
  std::size_t j = 0;
  if (local.size() > kFetchedAhead) {
    for (; j < std::min(size, local.size() - kFetchedAhead); ++j) {
      __builtin_prefetch(from + local[j + kFetchedAhead] * slice.stride, 0, 2);
      send(j);
    }
  }
  for (; j < size; ++j) send(j);
  return out + size * sizeof(Bits);
}

}  // namespace

std::byte* send_values(const TensorView& in, const ScopeSlice& slice,
                       std::span<const std::uint32_t> local, std::byte* out) {
  return send_first_values(in, slice, local, std::ssize(local), out);
}

std::byte* send_first_values(const TensorView& in, const ScopeSlice& slice,
                             std::span<const std::uint32_t> local, std::int64_t count,
                             std::byte* out) {
  switch (in.dtype) {
    case DType::kFloat32:
      return gather_values<std::uint32_t>(in, slice, local, count, 0x7F800000u, kNan32, out);
    case DType::kFloat16:
      return gather_values<std::uint16_t>(in, slice, local, count, 0x7C00u, kNan16, out);
    case DType::kBFloat16:
      return gather_values<std::uint16_t>(in, slice, local, count, 0x7F80u, kNanBf16, out);
  }
  return out;
}

std::int64_t sparse_index_elements(const SparseLayout& layout, const ScopeGrid& grid,
                                   const Shape& shape, std::int64_t payloads, int threads) {
  const std::int64_t n = shape.elements();
  if (!grid.is_contiguous()) return layout.most_selected();
  if (grid.count() > 1) return share_count(grid.count(), n, threads) * layout.most_selected();
  return payloads * (layout.most_selected() + share_count((n - 1) / kBlock + 1, n, threads));
}

void decode_sparse(std::span<const std::byte> payload, const SparseLayout& layout,
                   const ScopeGrid& grid, DType dtype, ScatterMode mode,
                   std::span<std::uint32_t> index, std::span<float> out, int threads,
                   std::string_view codec) {
  expect_payload_bytes(payload, layout.payload_bytes(), codec);
  if (grid.count() == 0) return;
  const Payload one{payload.data(), layout, grid, dtype, codec};
  if (!grid.is_contiguous()) return put_channels(one, mode, index, out);
  if (grid.count() == 1) return put_tensor(one, mode, index, out, threads);
  put_scopes(one, mode, index, out, threads);
}

bool has_negative_zero(const std::byte* values, DType dtype, std::int64_t count) {
  bool found = false;
  for (std::int64_t j = 0; j < count; ++j)
    found |= dtype == DType::kFloat32 ? load<std::uint32_t>(values + 4 * j) == 0x80000000u
                                      : load<std::uint16_t>(values + 2 * j) == 0x8000u;
  return found;
}

void add_piece(std::span<const std::uint32_t> at, std::span<float> values, float* to,
               float*& finished) {
  // What sends nothing adds +0, which turns -0 into +0; what sends -0 must not.
  for (std::size_t j = 0; j < at.size(); ++j) values[j] += to[at[j]];
  float* const end = to + at.back() + 1;
  add_zero({finished, end});
  for (std::size_t j = 0; j < at.size(); ++j) to[at[j]] = values[j];
  finished = end;
}

void combine_sparse(std::span<const std::span<const std::byte>> received,
                    const SparseLayout& layout, const ScopeGrid& grid, DType dtype,
                    std::span<std::uint32_t> index, std::span<float> out, int threads,
                    std::string_view codec) {
  for (const auto& payload : received) expect_payload_bytes(payload, layout.payload_bytes(), codec);
  if (grid.count() == 0) return;
  if (received.size() > 1 && grid.is_contiguous()) {
    const Payload any{nullptr, layout, grid, dtype, codec};
    if (grid.count() == 1 ? combine_tensor(received, any, index, out, threads)
                          : combine_scopes(received, any, index, out, threads))
      return;
  }
  // What a rank does not send adds +0, and -0 + 0 is +0: with -0 among the values every position
  // counts.
  ScatterMode mode = ScatterMode::kAssign;
  for (const auto& payload : received) {
    decode_sparse(payload, layout, grid, dtype, mode, index, out, threads, codec);
    mode = ScatterMode::kAdd;
  }
}

void add_zero(std::span<float> out) {
  for (float& x : out) x += 0.0f;
}

void Scatter::piece(float* to, std::span<const std::uint32_t> at, std::span<float> values) {
  if (mode_ == ScatterMode::kAdd) return add_piece(at, values, to, finished_);
  if (mode_ == ScatterMode::kAddSelected) {
    for (std::size_t j = 0; j < at.size(); ++j) to[at[j]] += values[j];
    return;
  }
  // Zeros go up to the last position of a few values, right before them: the memory then takes the
  // stores while the values and their positions are computed.
  constexpr std::size_t kFew = 64;
  for (std::size_t begin = 0; begin < at.size(); begin += kFew) {
    const std::size_t end = std::min(at.size(), begin + kFew);
    finished_ = std::fill_n(finished_, to + at[end - 1] + 1 - finished_, 0.0f);
    for (std::size_t j = begin; j < end; ++j) to[at[j]] = values[j];
  }
}

void Scatter::finish(float* end) {
  if (mode_ == ScatterMode::kAdd) add_zero({finished_, end});
  if (mode_ == ScatterMode::kAssign) std::fill(finished_, end, 0.0f);
}

}  // namespace tersor::compressors
