// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/sparse.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "compressors/api/bits.hpp"
#include "compressors/api/blocks.hpp"
#include "compressors/api/floats.hpp"

namespace tersor::compressors {
namespace {

// Values taken at once: their stretch of the dense tensor stays in the second cache at 1 %.
constexpr std::size_t kPieceValues = 512;

// Calls visit(first element, stride, local indices, values) for pieces of each scope.
template <class Visit>
void for_each_piece(std::span<const std::byte> payload, const SparseLayout& layout,
                    const ScopeGrid& grid, DType dtype, std::span<std::uint32_t> index,
                    std::string_view codec, Visit&& visit) {
  expect_payload_bytes(payload, layout.payload_bytes(), codec);
  const std::byte* at = payload.data();
  const std::byte* values = at + layout.index_bytes();
  std::array<float, kPieceValues> buffer;
  for (std::int64_t s = 0; s < grid.count(); ++s) {
    const ScopeSlice slice = grid[s];
    const std::int64_t k = layout.kept(slice.length);
    const auto local = index.first(static_cast<std::size_t>(k));
    decode_index(layout.coding(), at, slice.length, local, codec);
    at += layout.index_bytes_of(slice.length);
    for (std::int64_t begin = 0; begin < k; begin += std::ssize(buffer)) {
      const std::int64_t count = std::min<std::int64_t>(std::ssize(buffer), k - begin);
      widen_values(values, dtype, count, buffer.data());
      values += static_cast<std::size_t>(count) * item_bytes(dtype);
      visit(slice, local.data() + begin, buffer.data(), count);
    }
  }
}

void scatter_add(std::span<const std::byte> payload, const SparseLayout& layout,
                 const ScopeGrid& grid, DType dtype, std::span<std::uint32_t> index,
                 std::span<float> out, std::string_view codec) {
  for_each_piece(payload, layout, grid, dtype, index, codec,
                 [&](const ScopeSlice& slice, const std::uint32_t* local, const float* values,
                     std::int64_t count) {
                   float* to = out.data() + slice.begin;
                   for (std::int64_t j = 0; j < count; ++j)
                     to[local[j] * slice.stride] += values[j];
                 });
}

bool sends_negative_zero(std::span<const std::byte> payload, const SparseLayout& layout,
                         DType dtype, std::string_view codec) {
  expect_payload_bytes(payload, layout.payload_bytes(), codec);
  return has_negative_zero(payload.data() + layout.index_bytes(), dtype, layout.kept_of_all());
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

SparseLayout::SparseLayout(const ScopeGrid& grid, const Shape& shape, DType dtype,
                           IndexCoding coding, std::string_view codec,
                           const std::function<std::int64_t(std::int64_t)>& kept)
    : dtype_(dtype), coding_(coding) {
  if (grid.count() == 0) return;
  full_ = {grid.longest(), kept(grid.longest()), grid.count()};
  const std::int64_t tail = grid.scope() == Scope::kGroup ? shape.hidden % grid.group() : 0;
  if (tail != 0) {
    tail_ = {tail, kept(tail), shape.rows()};
    full_.scopes -= tail_.scopes;
  }
  const std::array sizes{full_, tail_};
  coding_ = choose_index_coding(coding, sizes, codec);
  full_bytes_ = compressors::index_bytes(coding_, full_.n, full_.k);
  if (tail != 0) tail_bytes_ = compressors::index_bytes(coding_, tail_.n, tail_.k);
}

double SparseLayout::least_share() const {
  double share = full_.n > 0 ? static_cast<double>(full_.k) / static_cast<double>(full_.n) : 1.0;
  if (tail_.n > 0)
    share = std::min(share, static_cast<double>(tail_.k) / static_cast<double>(tail_.n));
  return share;
}

std::size_t SparseLayout::index_bytes() const {
  return static_cast<std::size_t>(full_.scopes) * full_bytes_ +
         static_cast<std::size_t>(tail_.scopes) * tail_bytes_;
}

std::size_t SparseLayout::payload_bytes() const {
  return index_bytes() + static_cast<std::size_t>(kept_of_all()) * item_bytes(dtype_);
}

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

void decode_sparse(std::span<const std::byte> payload, const SparseLayout& layout,
                   const ScopeGrid& grid, DType dtype, std::span<std::uint32_t> index,
                   std::span<float> out, std::string_view codec) {
  if (!grid.is_contiguous()) std::fill(out.begin(), out.end(), 0.0f);
  // Contiguous scopes follow each other: zeros are written up to the last value of a piece, right
  // before the piece.
  float* filled = out.data();
  for_each_piece(payload, layout, grid, dtype, index, codec,
                 [&](const ScopeSlice& slice, const std::uint32_t* local, const float* values,
                     std::int64_t count) {
                   float* to = out.data() + slice.begin;
                   if (slice.stride == 1) {
                     filled = std::fill_n(filled, to + local[count - 1] + 1 - filled, 0.0f);
                     for (std::int64_t j = 0; j < count; ++j) to[local[j]] = values[j];
                   } else {
                     for (std::int64_t j = 0; j < count; ++j)
                       to[local[j] * slice.stride] = values[j];
                   }
                 });
  if (grid.is_contiguous()) std::fill(filled, out.data() + out.size(), 0.0f);
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

void add_sparse(std::span<const std::byte> payload, const SparseLayout& layout,
                const ScopeGrid& grid, DType dtype, std::span<std::uint32_t> index,
                std::span<float> out, std::string_view codec) {
  if (grid.is_contiguous()) {
    float* finished = out.data();
    for_each_piece(payload, layout, grid, dtype, index, codec,
                   [&](const ScopeSlice& slice, const std::uint32_t* local, float* values,
                       std::int64_t count) {
                     const auto size = static_cast<std::size_t>(count);
                     add_piece({local, size}, {values, size}, out.data() + slice.begin, finished);
                   });
    return add_zero({finished, out.data() + out.size()});
  }
  if (!sends_negative_zero(payload, layout, dtype, codec)) {
    scatter_add(payload, layout, grid, dtype, index, out, codec);
    return add_zero(out);
  }
  std::int64_t next = 0;  // element of the scope
  for_each_piece(
      payload, layout, grid, dtype, index, codec,
      [&](const ScopeSlice& slice, const std::uint32_t* local, float* values, std::int64_t count) {
        float* to = out.data() + slice.begin;
        for (std::int64_t j = 0; j < count; ++j) {
          for (; next < local[j]; ++next) to[next * slice.stride] += 0.0f;
          to[next++ * slice.stride] += values[j];
        }
        if (local + count != index.data() + layout.kept(slice.length)) return;
        for (; next < slice.length; ++next) to[next * slice.stride] += 0.0f;
        next = 0;
      });
}

void combine_sparse(std::span<const std::span<const std::byte>> received,
                    const SparseLayout& layout, const ScopeGrid& grid, DType dtype,
                    std::span<std::uint32_t> index, std::span<float> out, std::string_view codec) {
  bool is_plain = true;
  for (const auto payload : received)
    is_plain &= !sends_negative_zero(payload, layout, dtype, codec);
  if (is_plain) {
    std::fill(out.begin(), out.end(), 0.0f);
    for (const auto payload : received)
      scatter_add(payload, layout, grid, dtype, index, out, codec);
    return;
  }
  decode_sparse(received[0], layout, grid, dtype, index, out, codec);
  for (const auto payload : received.subspan(1))
    add_sparse(payload, layout, grid, dtype, index, out, codec);
}

void add_zero(std::span<float> out) {
  for (float& x : out) x += 0.0f;
}

void Scatter::piece(std::span<const std::uint32_t> at, std::span<float> values) {
  if (into_ == Into::kAll) return add_piece(at, values, out_, finished_);
  float* const to = out_;
  if (into_ == Into::kValues) {
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

void Scatter::finish(std::int64_t end) {
  if (into_ == Into::kAll) add_zero({finished_, out_ + end});
  if (into_ == Into::kZeros) std::fill(finished_, out_ + end, 0.0f);
}

}  // namespace tersor::compressors
