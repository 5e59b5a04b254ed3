// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/select_sources.cuh"
#include "compressors/device/warp_sums.cuh"

/// From the threshold of a scope to its entries in the payload (select.cuh).
namespace tersor::compressors::device {

/// The smallest chosen key, how many equal to it are chosen, and whether those are sent as +0.
struct Chosen {
  std::uint32_t key;
  std::uint32_t ties_taken;
  bool drops_ties;
};

/// Keys of the scope that were seen so far.
struct Seen {
  std::uint32_t above = 0;
  std::uint32_t equal = 0;
};

/// The lane's keys above and (of the first `count` of the sub-tile) equal to `key`, equal << 16.
template <class Source>
__device__ __forceinline__ std::uint32_t count_thread_tile(const std::uint32_t* raw,
                                                           std::uint32_t key, std::int64_t count) {
  const std::int64_t first = 8 * thread_tile_of_lane<Source::kPaired>(lane_of_thread());
  std::uint32_t result = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t own = Source::key(raw[i]);
    result += own > key ? 1u : own == key && first + i < count ? 1u << 16 : 0u;
  }
  return result;
}

/// Hands the chosen elements of a sub-tile to the writer: its elements begin at `first` of a scope
/// of `length`. The warp calls it sub-tile by sub-tile.
template <class Source, class Writer>
__device__ __forceinline__ void write_subtile(const std::uint32_t* raw, std::int64_t first,
                                              std::int64_t length, const Chosen& chosen, Seen& seen,
                                              const Writer& writer) {
  const std::int64_t own = first + 8 * thread_tile_of_lane<Source::kPaired>(lane_of_thread());
  const std::uint32_t counts = count_thread_tile<Source>(raw, chosen.key, length - first);
  std::uint32_t total = 0;
  const std::uint32_t before = sum_before_thread_tile<Source::kPaired>(counts, total);
  const std::uint32_t above = seen.above + (before & 0xFFFFu);
  std::uint32_t equal = seen.equal + (before >> 16);
  std::uint32_t rank = above + (equal < chosen.ties_taken ? equal : chosen.ties_taken);
  std::uint32_t flags = 0;
  std::uint32_t dropped = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t key = Source::key(raw[i]);
    const bool is_tie = key == chosen.key;
    const bool is_chosen = key > chosen.key || (is_tie && equal < chosen.ties_taken);
    if (is_chosen && own + i < length) flags |= 1u << i;
    if (Source::kHasFeedback && is_tie && chosen.drops_ties) dropped |= 1u << i;
    equal += is_tie ? 1u : 0u;
  }
  std::uint32_t sent[8] = {};
  writer.send(first, flags & ~dropped, raw, sent);
  for (std::uint32_t left = flags; left != 0; left &= left - 1) {
    const int own_index = __ffs(static_cast<int>(left)) - 1;
    std::uint32_t value = sent[0];
#pragma unroll
    for (int i = 1; i < 8; ++i) value = i == own_index ? sent[i] : value;
    const bool is_dropped = chosen.drops_ties && Source::key(value) == chosen.key;
    writer.put(rank++, own + own_index, is_dropped ? 0u : value);
  }
  if (own < length) writer.put_flags(own, flags);
  seen.above += total & 0xFFFFu;
  seen.equal += total >> 16;
}

template <class Source>
struct SelectJob {
  Source source;
  SparseGrid grid;
  SelectPlan plan;
  std::byte* payload;        ///< indices, then values; null where only positions are wanted
  std::uint32_t* positions;  ///< of all entries; null where the payload takes them
  bool drops_ties;           ///< variant=rudakov
  std::uint32_t low_rank;    ///< in the sample; above its size: no lower bound
  std::uint32_t high_rank;   ///< 0: no upper bound
  std::uint32_t low;         ///< bracket of keys that are not sampled
  std::uint32_t high;
};

/// Writes the entries of one scope.
template <class Source>
struct EntryWriter {
  const SelectJob<Source>& job;
  SparseScope scope;

  __device__ __forceinline__ void put(std::uint32_t rank, std::int64_t i, std::uint32_t raw) const {
    const std::int64_t entry = scope.first_entry + rank;
    if (job.positions != nullptr) job.positions[entry] = static_cast<std::uint32_t>(i);
    if constexpr (Source::kHasValues) {
      using T = typename Source::Type;
      std::byte* const values = job.payload + job.grid.index_bytes;
      if constexpr (kIsPaired<T>)
        store_bytes(values + 4 * entry, raw);
      else
        store_bytes(values + 2 * entry, T::round(float_of(raw)));
      std::byte* const index = job.payload + scope.index_at;
      switch (job.grid.coding) {
        case IndexCoding::kU16:
          return store_bytes(index + 2 * std::int64_t{rank}, static_cast<std::uint16_t>(i));
        case IndexCoding::kU32:
          return store_bytes(index + 4 * std::int64_t{rank}, static_cast<std::uint32_t>(i));
        case IndexCoding::kI64:
          return store_bytes(index + 8 * std::int64_t{rank}, static_cast<std::uint64_t>(i));
        default: return;
      }
    }
  }
  __device__ __forceinline__ void send(std::int64_t first, std::uint32_t flags,
                                       const std::uint32_t* raw, std::uint32_t* sent) const {
    job.source.send(scope, first, flags, raw, sent);
  }
  /// Of elements i .. i+7, i a multiple of 8.
  __device__ __forceinline__ void put_flags(std::int64_t i, std::uint32_t flags) const {
    if constexpr (Source::kIsSampled)
      if (job.grid.coding == IndexCoding::kBitmap)
        job.payload[scope.index_at + i / 8] = static_cast<std::byte>(flags);
  }
};

}  // namespace tersor::compressors::device
