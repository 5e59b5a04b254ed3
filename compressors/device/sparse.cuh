// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/select.cuh"
#include "compressors/device/sparse_plan.hpp"
#include "compressors/device/tiles.cuh"

/// Kernels of payloads of positions and values. Decoding goes by tiles of the output, a warp each:
/// for every payload in turn the tile's entries are put among zeros in shared memory and added to
/// the sums in registers, so that any number of payloads is one pass over the output:
///
///   positions --search--> first entry of the tile --> values at their places (shared)
///                                                      --add--> sums (registers) --> output
///
/// Payloads that no encode makes are not refused here, since that would take a synchronisation:
/// an entry counts where its position is in the tile, and nothing else is read or written.
namespace tersor::compressors::device {

static_assert(kMostPayloads == Payloads::kMost && kSelectTile == kTile);

/// What is multiplied to the values of randk(unbiased=true).
struct ValueScale {
  enum Kind : std::uint8_t { kNone, kFactor, kStrata } kind = kNone;
  float factor = 1;
  std::uint64_t elements = 0;  ///< kStrata: entry j is multiplied by the length of stratum j
  std::uint64_t entries = 1;

  __device__ __forceinline__ float apply(float value, std::uint64_t j) const {
    if (kind == kNone) return value;
    if (kind == kFactor) return __fmul_rn(value, factor);
    const std::uint64_t length = (j + 1) * elements / entries - j * elements / entries;
    return __fmul_rn(value, static_cast<float>(length));
  }
};

struct SparseJob {
  SparseGrid grid;
  Payloads payloads;
  DType dtype;                     ///< of the values
  const std::uint32_t* positions;  ///< of all payloads, where these hold values only
  std::uint64_t* flag_ranks;       ///< per payload and scope; null: one chunk each
  std::int64_t chunks;             ///< of a scope's flags
  ValueScale scale;
  bool is_accumulated;
};

/// The entries of one scope of one payload.
struct ScopeEntries {
  const SparseJob& job;
  const std::byte* values;
  const std::byte* index;
  const std::uint64_t* ranks;
  SparseScope scope;

  __device__ __forceinline__ ScopeEntries(const SparseJob& of, int payload, std::int64_t s)
      : job(of), scope(of.grid.scope(s)) {
    const std::byte* const at = job.payloads.at[payload];
    const bool has_indices = job.positions == nullptr;
    values = at + (has_indices ? job.grid.index_bytes : 0);
    index = has_indices ? at + scope.index_at : nullptr;
    ranks = job.flag_ranks == nullptr
                ? nullptr
                : job.flag_ranks + (payload * job.grid.scopes + s) * job.chunks;
  }

  __device__ __forceinline__ float value(std::int64_t j) const {
    const std::int64_t entry = scope.first_entry + j;
    float x;
    if (job.dtype == DType::kFloat32)
      x = float_of(load_bytes<std::uint32_t>(values + 4 * entry));
    else if (job.dtype == DType::kFloat16)
      x = float16_to_float32(load_bytes<std::uint16_t>(values + 2 * entry));
    else
      x = bfloat16_to_float32(load_bytes<std::uint16_t>(values + 2 * entry));
    return job.scale.apply(x, static_cast<std::uint64_t>(j));
  }
  /// Of codings that are lists.
  __device__ __forceinline__ std::int64_t position(std::int64_t j) const {
    if (job.positions != nullptr) return job.positions[scope.first_entry + j];
    switch (job.grid.coding) {
      case IndexCoding::kU16: return load_bytes<std::uint16_t>(index + 2 * j);
      case IndexCoding::kU32: return load_bytes<std::uint32_t>(index + 4 * j);
      default: return static_cast<std::int64_t>(load_bytes<std::uint64_t>(index + 8 * j));
    }
  }
  /// Word w of the flags; bits behind them are 0.
  __device__ __forceinline__ std::uint32_t flag_word(std::int64_t w) const {
    return flag_word_of(job.grid, scope, index, w);
  }
  static __device__ __forceinline__ std::uint32_t flag_word_of(const SparseGrid& grid,
                                                               const SparseScope& scope,
                                                               const std::byte* index,
                                                               std::int64_t w) {
    const std::int64_t left = grid.flags(scope) - 32 * w;
    if (left <= 0) return 0;
    const std::byte* const at = index + grid.low_bytes(scope) + 4 * w;
    if (left >= 32) return load_bytes<std::uint32_t>(at);
    std::uint32_t word = 0;
    for (int b = 0; 8 * b < left; ++b) word |= static_cast<std::uint32_t>(at[b]) << 8 * b;
    return word & ((1u << left) - 1u);
  }
  __device__ __forceinline__ std::int64_t low_field(std::int64_t j) const {
    const int width = scope.low_bits;
    if (width == 0) return 0;
    const std::int64_t bit = j * width;
    const std::byte* const at = index + bit / 8;
    const int shift = static_cast<int>(bit % 8);
    std::uint64_t field = 0;
    for (int b = 0; 8 * b < shift + width; ++b) field |= static_cast<std::uint64_t>(at[b]) << 8 * b;
    return static_cast<std::int64_t>(field >> shift & ((std::uint64_t{1} << width) - 1));
  }
};

/// The number of i < count with is_less(i), where those come first. kLanes = 32: the warp together.
template <int kLanes, class IsLess>
__device__ __forceinline__ std::int64_t count_less(std::int64_t count, IsLess is_less) {
  std::int64_t begin = 0;
  std::int64_t end = count;
  if constexpr (kLanes == 1) {
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (is_less(middle))
        begin = middle + 1;
      else
        end = middle;
    }
  } else {
    while (begin < end) {
      const std::int64_t step = (end - begin + 31) / 32;
      const std::int64_t probe = begin + lane_of_thread() * step;
      const bool is_below = probe < end && is_less(probe);
      const int below = __popc(__ballot_sync(kAllLanes, is_below));
      const std::int64_t next = begin + below * step;
      if (below > 0) begin = next - step + 1;
      end = below == 0 ? begin : next < end ? next : end;
    }
  }
  return begin;
}

/// Calls put(position, value) for the scope's entries at positions [begin, end). kLanes = 32: the
/// warp shares the entries; 1: the lane takes all.
template <int kLanes, class Put>
__device__ __forceinline__ void for_each_entry(const ScopeEntries& entries, std::int64_t begin,
                                               std::int64_t end, Put put) {
  constexpr bool kIsWarp = kLanes == 32;
  const unsigned lane = kIsWarp ? lane_of_thread() : 0;
  const std::int64_t selected = entries.scope.selected;
  if (entries.job.positions != nullptr || !entries.job.grid.has_bits()) {
    const std::int64_t first = begin == 0 ? 0 : count_less<kLanes>(selected, [&](std::int64_t j) {
      return entries.position(j) < begin;
    });
    // Ascending positions have no more than this many in the range.
    std::int64_t last = first + (end - begin);
    if (last > selected) last = selected;
    for (std::int64_t j = first + lane;; j += kLanes) {
      const std::int64_t i = j < last ? entries.position(j) : end;
      if (i >= begin && i < end) put(i, entries.value(j));
      const bool goes_on = i < end;
      if constexpr (kIsWarp) {
        if (!__any_sync(kAllLanes, goes_on)) return;
      } else {
        if (!goes_on) return;
      }
    }
  }
  // Flags: bit b of a bitmap is position b; of Elias-Fano bit b, the j-th that is set, is high
  // part b - j.
  const bool is_bitmap = entries.job.grid.coding == IndexCoding::kBitmap;
  const int low_bits = is_bitmap ? 0 : entries.scope.low_bits;
  const std::int64_t flags = entries.job.grid.flags(entries.scope);
  std::int64_t chunk = 0;
  if (entries.ranks != nullptr) {
    const std::int64_t high = begin >> low_bits;
    const std::int64_t chunks = (flags + kFlagsChunk - 1) / kFlagsChunk;
    // The last chunk that has fewer than `high` zeros before it: what is sought is behind them.
    const auto is_before = [&](std::int64_t c) {
      return c * kFlagsChunk - static_cast<std::int64_t>(entries.ranks[c]) < high;
    };
    chunk = is_bitmap   ? begin / kFlagsChunk
            : high == 0 ? 0
                        : count_less<kLanes>(chunks, is_before) - 1;
  }
  std::int64_t rank =
      entries.ranks == nullptr ? 0 : static_cast<std::int64_t>(entries.ranks[chunk]);
  for (std::int64_t w = chunk * (kFlagsChunk / 32);; w += kLanes) {
    if (32 * w >= flags || rank >= selected) return;
    if ((is_bitmap ? 32 * w : (32 * w - rank) << low_bits) >= end) return;
    std::uint32_t word = entries.flag_word(w + lane);
    const auto count = static_cast<std::uint32_t>(__popc(word));
    std::int64_t j = rank;
    std::uint32_t total = count;
    if constexpr (kIsWarp) {
      const std::uint32_t scanned = warp_scan(count);
      total = __shfl_sync(kAllLanes, scanned, 31);
      j += scanned - count;
    }
    for (; word != 0 && j < selected; word &= word - 1, ++j) {
      const std::int64_t bit = 32 * (w + lane) + __ffs(static_cast<int>(word)) - 1;
      const std::int64_t i = is_bitmap ? bit : (bit - j) << low_bits | entries.low_field(j);
      if (i >= begin && i < end) put(i, entries.value(j));
    }
    rank += total;
  }
}

/// Set bits of each chunk of flags, to be summed by scan_counts.
template <class Count>
__global__ void __launch_bounds__(kThreads)
    count_flags(const __grid_constant__ SparseJob job, Count* ranks) {
  const std::int64_t number = std::int64_t{blockIdx.x} * kWarps + warp_of_thread();
  const std::int64_t sequence = number / job.chunks;
  const std::int64_t payload = sequence / job.grid.scopes;
  if (payload >= job.payloads.count) return;
  const SparseScope scope = job.grid.scope(sequence - payload * job.grid.scopes);
  const std::byte* const index = job.payloads.at[payload] + scope.index_at;
  const std::int64_t chunk = number - sequence * job.chunks;
  const std::uint32_t word = ScopeEntries::flag_word_of(
      job.grid, scope, index, chunk * (kFlagsChunk / 32) + lane_of_thread());
  const std::uint32_t count = warp_sum(static_cast<std::uint32_t>(__popc(word)));
  if (lane_of_thread() == 0) ranks[number] = count;
}

/// Scopes below this length: a lane takes one; others: the warp together.
inline constexpr std::int64_t kLaneScope = 128;

/// Scopes one after the other; a warp takes 1,024 elements of the output.
template <class Out>
__global__ void __launch_bounds__(kThreads, 2)
    sum_sparse(const __grid_constant__ SparseJob job, typename Out::Storage* out) {
  TERSOR_SHARED_ARRAY(float4, shared, kThreads * kTile / 32 / 4);
  const unsigned lane = lane_of_thread();
  float4* const quads = shared + warp_of_thread() * (kTile / 4);
  float* const values = reinterpret_cast<float*>(quads);
  const SparseGrid& grid = job.grid;
  const std::int64_t first = first_of_tile();
  if (first >= grid.elements) return;
  const std::int64_t left = grid.elements - first;
  const std::int64_t end = first + (left < kTile ? left : kTile);
  const bool is_aligned = is_aligned_16(out);
  float sum[kSubtiles][8];
  if (job.is_accumulated) {
#pragma unroll
    for (int c = 0; c < kSubtiles; ++c)
      load_thread_tile<Out>(out + first + c * kSubtile, left - c * kSubtile, is_aligned, sum[c]);
  }
  const std::int64_t first_scope = grid.scope_of(first);
  for (int p = 0; p < job.payloads.count; ++p) {
#pragma unroll
    for (int i = 0; i < kTile / 4 / 32; ++i)
      store_vector(quads + 32 * i + lane, make_float4(0, 0, 0, 0));
    __syncwarp();
    const bool by_lane = grid.full.length < kLaneScope;
    for (std::int64_t s = first_scope + (by_lane ? lane : 0); s < grid.scopes;
         s += by_lane ? 32 : 1) {
      const ScopeEntries entries(job, p, s);
      const std::int64_t at = entries.scope.begin;
      if (at >= end) break;
      const std::int64_t from = first > at ? first - at : 0;
      const std::int64_t to = end - at < entries.scope.length ? end - at : entries.scope.length;
      if (by_lane)
        for_each_entry<1>(entries, from, to,
                          [&](std::int64_t i, float value) { values[at + i - first] = value; });
      else  // lanes that meet in one place have a payload that no encode makes
        for_each_entry<32>(entries, from, to, [&](std::int64_t i, float value) {
          atomicExch(reinterpret_cast<unsigned*>(values + (at + i - first)), bits_of(value));
        });
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < kSubtiles; ++c) {
      const unsigned thread_tile = thread_tile_of_lane<kIsPaired<Out>>(lane);
      float x[8];
      put_quad(load_vector(quads + c * (kSubtile / 4) + 2 * thread_tile), x);
      put_quad(load_vector(quads + c * (kSubtile / 4) + 2 * thread_tile + 1), x + 4);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum[c][i] = p == 0 && !job.is_accumulated ? x[i] : __fadd_rn(sum[c][i], x[i]);
    }
    __syncwarp();
  }
#pragma unroll
  for (int c = 0; c < kSubtiles; ++c) {
    if (c * kSubtile >= left) continue;
    float x[8];  // store_thread_tile picks by address, which would put all of `sum` into memory
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = sum[c][i];
    store_thread_tile<Out>(out + first + c * kSubtile, left - c * kSubtile, is_aligned, x);
  }
}

/// Channel scopes: a warp takes 32 rows of 32 columns, a lane a column.
template <class Out>
__global__ void __launch_bounds__(kThreads, 2)
    sum_sparse_columns(const __grid_constant__ SparseJob job, typename Out::Storage* out) {
  TERSOR_SHARED_ARRAY(float, shared, kThreads * 32);
  const unsigned lane = lane_of_thread();
  float* const values = shared + warp_of_thread() * 1024;
  const std::int64_t rows = job.grid.rows;
  const std::int64_t columns = job.grid.hidden;
  const std::int64_t across = (columns + 31) / 32;
  const std::int64_t number = std::int64_t{blockIdx.x} * kWarps + warp_of_thread();
  const std::int64_t down = number / across;
  const std::int64_t row = 32 * down;
  const std::int64_t column = 32 * (number - down * across) + lane;
  if (row >= rows || column >= columns) return;
  const std::int64_t end = row + 32 < rows ? row + 32 : rows;
  float sum[32];
#pragma unroll
  for (int r = 0; r < 32; ++r) {
    sum[r] = 0;
    if (job.is_accumulated && row + r < end) sum[r] = Out::widen(out[(row + r) * columns + column]);
  }
  for (int p = 0; p < job.payloads.count; ++p) {
#pragma unroll
    for (int r = 0; r < 32; ++r) values[32 * r + lane] = 0;
    for_each_entry<1>(ScopeEntries(job, p, column), row, end,
                      [&](std::int64_t i, float value) { values[32 * (i - row) + lane] = value; });
#pragma unroll
    for (int r = 0; r < 32; ++r) {
      const float x = values[32 * r + lane];
      sum[r] = p == 0 && !job.is_accumulated ? x : __fadd_rn(sum[r], x);
    }
  }
#pragma unroll
  for (int r = 0; r < 32; ++r)
    if (row + r < end) out[(row + r) * columns + column] = Out::round(sum[r]);
}

/// Decodes job.payloads, or with positions all values of them, into `target`. The payload pointers
/// and is_accumulated are set here.
inline void launch_decode(SparseJob job, std::span<const std::span<const std::byte>> all,
                          const DecodeTarget& target, const char* codec, void* stream) {
  for_each_batch(all, target.is_accumulated, [&](const Payloads& payloads, bool is_accumulated) {
    job.payloads = payloads;
    job.is_accumulated = is_accumulated;
    if (job.flag_ranks != nullptr) {
      const std::int64_t sequences = payloads.count * job.grid.scopes;
      TERSOR_LAUNCH(count_flags<std::uint64_t>,
                    grid_of(blocks_for(sequences * job.chunks, kWarps), codec), kThreads, 0, stream,
                    job, job.flag_ranks);
      TERSOR_LAUNCH(scan_counts<std::uint64_t>, grid_of(sequences, codec), kScanThreads, 0, stream,
                    job.flag_ranks, job.chunks);
    }
    with_type(target.dtype, [&]<class Out>(Out) {
      auto* const out = static_cast<typename Out::Storage*>(target.data);
      if (job.grid.is_columns)
        TERSOR_LAUNCH(
            sum_sparse_columns<Out>,
            grid_of(
                blocks_for(blocks_for(job.grid.rows, 32) * blocks_for(job.grid.hidden, 32), kWarps),
                codec),
            kThreads, 0, stream, job, out);
      else
        TERSOR_LAUNCH(sum_sparse<Out>, blocks_of_tiles(job.grid.elements, codec), kThreads, 0,
                      stream, job, out);
    });
  });
}

}  // namespace tersor::compressors::device
