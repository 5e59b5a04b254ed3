// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/octets.cuh"
#include "compressors/api/sparse_plan.hpp"

/// Selection of the k largest keys of each scope, ties to the lowest index, the result in ascending
/// order of the index. Short scopes: one launch, the scope in the registers of a warp or block
/// (select_in_registers). Longer ones, with a warp per tile of 1,024 elements:
///
///   start    sample -> bracket [low, high] of the threshold     4,096 keys of a scope
///   bracket  count keys above, collect those inside, by tile    1 read
///   digit, pick  (x2 or x3) radix digits 11, 10, 10 -> key      candidates; where the bracket
///                                                               missed: 1 read each
///   count    per tile: keys above and equal                     the same
///   scan     tiles -> where each one's entries begin
///   write    entries                                            1 read
///
/// The sample saves time and changes nothing; only integer sums meet in atomics.
namespace tersor::compressors::device {

// ---- where keys come from. load(): the lane's octet of the sub-tile (octets.cuh) at element
// `first` of the scope as raw words, 0 behind its end. send(): what the payload gets for the octet
// of which `marks` are chosen, called once for each sub-tile, by the whole warp

template <class T>
struct TensorSource {
  using Type = T;
  static constexpr bool kPaired = kIsPaired<T>;
  static constexpr bool kIsSampled = true;
  static constexpr bool kHasValues = true;
  static constexpr int kWritingBlocks = 0;  ///< of launch bounds; 0: none
  static constexpr int kKeyBits = 31;
  /// Bits that are 0 in every key: a widened float16 (normal ones too) or bfloat16 has none there.
  static constexpr int kZeroBits = sizeof(typename T::Storage) == 4 ? 0 : 13;
  static constexpr int kDigits = sizeof(typename T::Storage) == 4 ? 3 : 2;

  const typename T::Storage* in;

  /// Raw words are float32 bits, NaN canonical.
  __device__ __forceinline__ void load(const SparseScope& scope, std::int64_t first,
                                       std::uint32_t* raw) const {
    float x[8];
    const auto* from = in + scope.begin + first;
    load_octet<T>(from, scope.length - first, is_aligned_16(from), x);
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = is_nan(x[i]) ? kNan32 : bits_of(x[i]);
  }
  __device__ __forceinline__ std::uint32_t load_one(const SparseScope& scope,
                                                    std::int64_t i) const {
    return magnitude_key(T::widen(in[scope.begin + i]));
  }
  static __device__ __forceinline__ std::uint32_t key(std::uint32_t raw) {
    return raw & 0x7FFFFFFFu;
  }
  __device__ __forceinline__ void send(const SparseScope&, std::int64_t, std::uint32_t,
                                       const std::uint32_t* raw, std::uint32_t* sent) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) sent[i] = raw[i];
  }
};

/// Complements of 32-bit draws: the k largest are the k smallest draws.
struct DrawSource {
  static constexpr bool kPaired = false;
  static constexpr bool kIsSampled = false;
  static constexpr bool kHasValues = false;
  static constexpr int kWritingBlocks = 0;
  static constexpr int kKeyBits = 32;
  static constexpr int kZeroBits = 0;
  static constexpr int kDigits = 3;

  Stream stream;
  std::uint64_t offset;

  __device__ __forceinline__ void load(const SparseScope& scope, std::int64_t first,
                                       std::uint32_t* raw) const {
    const unsigned octet = 8 * lane_of_thread();
    const std::int64_t count = scope.length - first;
    const std::uint64_t draw = offset + static_cast<std::uint64_t>(scope.begin + first) + octet;
    const unsigned shift = static_cast<unsigned>(draw % 4);  // the same in all lanes
    std::uint32_t word[12] = {};
#pragma unroll
    for (unsigned b = 0; b < 3; ++b) {
      if (b == 2 && shift == 0) break;
      const auto block = stream.block(static_cast<std::uint32_t>(draw / 4 + b));
#pragma unroll
      for (unsigned w = 0; w < 4; ++w) word[4 * b + w] = ~block[w];
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint32_t even = (shift & 2u) != 0 ? word[i + 2] : word[i];
      const std::uint32_t odd = (shift & 2u) != 0 ? word[i + 3] : word[i + 1];
      raw[i] = static_cast<std::int64_t>(octet + i) < count ? ((shift & 1u) != 0 ? odd : even) : 0u;
    }
  }
  static __device__ __forceinline__ std::uint32_t key(std::uint32_t raw) { return raw; }
  __device__ __forceinline__ void send(const SparseScope&, std::int64_t, std::uint32_t,
                                       const std::uint32_t*, std::uint32_t*) const {}
};

// ---- sums over warps and blocks

__device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(kAllLanes, x, distance);
  return x;
#else
  return __reduce_add_sync(kAllLanes, x);
#endif
}
/// Sum over lanes 0 .. the own one.
template <class Int>
__device__ __forceinline__ Int warp_scan(Int x) {
  const unsigned lane = lane_of_thread();
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Int before = __shfl_up_sync(kAllLanes, x, distance);
    if (lane >= distance) x += before;
  }
  return x;
}
/// The lane that owns an octet.
template <bool kPaired>
__device__ __forceinline__ unsigned lane_of_octet(unsigned octet) {
  return kPaired ? (octet & 15u) << 1 | octet >> 4 : octet;
}
/// What the octets before this lane's hold; `total` becomes the sum of all.
template <bool kPaired>
__device__ __forceinline__ std::uint32_t sum_before_octet(std::uint32_t x, std::uint32_t& total) {
  const unsigned lane = lane_of_thread();
  if constexpr (kPaired) {
    const std::uint32_t in_order =
        __shfl_sync(kAllLanes, x, static_cast<int>(lane_of_octet<true>(lane)));
    const std::uint32_t scanned = warp_scan(in_order);
    total = __shfl_sync(kAllLanes, scanned, 31);
    return __shfl_sync(kAllLanes, scanned, static_cast<int>(octet_of_lane<true>(lane))) - x;
  } else {
    const std::uint32_t scanned = warp_scan(x);
    total = __shfl_sync(kAllLanes, scanned, 31);
    return scanned - x;
  }
}

/// Sums over the warps that share a scope; one barrier each.
template <int kScopeWarps>
class ScopeSum {
 public:
  __device__ explicit ScopeSum(std::uint32_t (&shared)[2 * kScopeWarps]) : shared_(shared) {}
  __device__ __forceinline__ std::uint32_t operator()(std::uint32_t x) {
    x = warp_sum(x);
    if constexpr (kScopeWarps == 1) return x;
    std::uint32_t* const sums = shared_ + (turn_ & 1u) * kScopeWarps;
    ++turn_;  // the other half may still be read
    if (lane_of_thread() == 0) sums[warp_of_thread()] = x;
    __syncthreads();
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < kScopeWarps; ++i) sum += sums[i];
    return sum;
  }
  /// Of the warps before this one only.
  __device__ __forceinline__ std::uint32_t before(std::uint32_t x) {
    x = warp_sum(x);
    if constexpr (kScopeWarps == 1) return 0;
    std::uint32_t* const sums = shared_ + (turn_ & 1u) * kScopeWarps;
    ++turn_;
    if (lane_of_thread() == 0) sums[warp_of_thread()] = x;
    __syncthreads();
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < warp_of_thread(); ++i) sum += sums[i];
    return sum;
  }

 private:
  std::uint32_t* shared_;
  unsigned turn_ = 0;
};

// ---- entries

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
__device__ __forceinline__ std::uint32_t count_octet(const std::uint32_t* raw, std::uint32_t key,
                                                     std::int64_t count) {
  const std::int64_t first = 8 * octet_of_lane<Source::kPaired>(lane_of_thread());
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
  const std::int64_t own = first + 8 * octet_of_lane<Source::kPaired>(lane_of_thread());
  const std::uint32_t counts = count_octet<Source>(raw, chosen.key, length - first);
  std::uint32_t total = 0;
  const std::uint32_t before = sum_before_octet<Source::kPaired>(counts, total);
  const std::uint32_t above = seen.above + (before & 0xFFFFu);
  std::uint32_t equal = seen.equal + (before >> 16);
  std::uint32_t rank = above + (equal < chosen.ties_taken ? equal : chosen.ties_taken);
  std::uint32_t marks = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t key = Source::key(raw[i]);
    const bool is_tie = key == chosen.key;
    const bool is_chosen = key > chosen.key || (is_tie && equal < chosen.ties_taken);
    if (is_chosen && own + i < length) marks |= 1u << i;
    equal += is_tie ? 1u : 0u;
  }
  std::uint32_t sent[8] = {};
  writer.send(first, marks, raw, sent);
  for (std::uint32_t left = marks; left != 0; left &= left - 1) {
    const int own_index = __ffs(static_cast<int>(left)) - 1;
    std::uint32_t value = sent[0];
#pragma unroll
    for (int i = 1; i < 8; ++i) value = i == own_index ? sent[i] : value;
    const bool is_dropped = chosen.drops_ties && Source::key(value) == chosen.key;
    writer.put(rank++, own + own_index, is_dropped ? 0u : value);
  }
  if (own < length) writer.put_marks(own, marks);
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
  __device__ __forceinline__ void send(std::int64_t first, std::uint32_t marks,
                                       const std::uint32_t* raw, std::uint32_t* sent) const {
    job.source.send(scope, first, marks, raw, sent);
  }
  /// Of elements i .. i+7, i a multiple of 8.
  __device__ __forceinline__ void put_marks(std::int64_t i, std::uint32_t marks) const {
    if constexpr (Source::kIsSampled)
      if (job.grid.coding == IndexCoding::kBitmap)
        job.payload[scope.index_at + i / 8] = static_cast<std::byte>(marks);
  }
};

// ---- short scopes

inline constexpr int kScopesPerBlock = 8;  ///< where a warp takes one

/// kScopeWarps warps hold kCount sub-tiles each of a scope. The threshold is found bit by bit.
template <class Source, int kScopeWarps, int kCount>
__global__ void __launch_bounds__(kScopeWarps == 1 ? 32 * kScopesPerBlock : 32 * kScopeWarps,
                                  kScopeWarps == 16 ? 1 : 0)
    select_in_registers(const __grid_constant__ SelectJob<Source> job) {
  TERSOR_SHARED_ARRAY(std::uint32_t, shared, 2 * kScopeWarps);
  const unsigned warp = warp_of_thread();
  constexpr bool kIsAlone = kScopeWarps == 1;
  const std::int64_t s =
      kIsAlone ? std::int64_t{blockIdx.x} * kScopesPerBlock + warp : std::int64_t{blockIdx.x};
  if (s >= job.grid.scopes) return;  // whole warps, and with several of them no block
  const SparseScope scope = job.grid.scope(s);
  const std::int64_t part = kIsAlone ? 0 : std::int64_t{warp} * kCount * kSubtile;
  std::uint32_t raw[kCount][8];
#pragma unroll
  for (int c = 0; c < kCount; ++c) {
    const std::int64_t first = part + c * kSubtile;
    if (first < scope.length) {
      job.source.load(scope, first, raw[c]);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) raw[c][i] = 0;
    }
  }

  ScopeSum<kScopeWarps> sum(shared);
  const auto kept = static_cast<std::uint32_t>(scope.kept);
  std::uint32_t key = 0;
  bool is_exact = false;
#pragma unroll 1
  for (int bit = Source::kKeyBits - 1; bit >= Source::kZeroBits && !is_exact; --bit) {
    const std::uint32_t tried = key | 1u << bit;
    std::uint32_t count = 0;
#pragma unroll
    for (int c = 0; c < kCount; ++c)
#pragma unroll
      for (int i = 0; i < 8; ++i) count += Source::key(raw[c][i]) >= tried ? 1u : 0u;
    count = sum(count);
    if (count >= kept) key = tried;
    is_exact = count == kept;
  }

  Chosen chosen{key, 0, false};
  if (is_exact) chosen.key = key - 1;  // all from `key` on, and no tie with what is left
  std::uint32_t counts = 0;
#pragma unroll
  for (int c = 0; c < kCount; ++c)
    counts += count_octet<Source>(raw[c], chosen.key, scope.length - part - c * kSubtile);
  Seen seen;
  if (!is_exact) {
    const std::uint32_t above = sum(counts & 0xFFFFu);
    const std::uint32_t equal = sum(counts >> 16);
    chosen.ties_taken = kept - above;
    chosen.drops_ties = job.drops_ties && equal > chosen.ties_taken;
  }
  const std::uint32_t before = sum.before(counts);
  seen.above = before & 0xFFFFu;
  seen.equal = before >> 16;
  const EntryWriter<Source> writer{job, scope};
#pragma unroll
  for (int c = 0; c < kCount; ++c) {
    const std::int64_t first = part + c * kSubtile;
    if (first < scope.length)
      write_subtile<Source>(raw[c], first, scope.length, chosen, seen, writer);
  }
}

// ---- long scopes

/// Blocks of the digit passes that a multiprocessor holds: 1,280 threads of up to 48 registers.
/// Without it ptxas aims at 32 of them on sm_80 and spills.
inline constexpr int kCountingBlocks = 5;

template <class Source>
__global__ void __launch_bounds__(kThreads)
    select_start(const __grid_constant__ SelectJob<Source> job) {
  TERSOR_SHARED_ARRAY(std::uint32_t, shared, 2 * kWarps);
  const unsigned s = blockIdx.x;
  const SparseScope scope = job.grid.scope(s);
  std::uint32_t* const histogram = job.plan.histogram + std::int64_t{s} * kSelectBins;
  for (unsigned b = threadIdx.x; b < kSelectBins; b += kThreads) histogram[b] = 0;
  std::uint32_t low = job.low;
  std::uint32_t high = job.high;
  if constexpr (Source::kIsSampled) {
    constexpr int kEach = kSelectSamples / kThreads;
    const auto step = static_cast<std::uint64_t>(scope.length / kSelectSamples);
    std::uint32_t keys[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::uint32_t j = static_cast<std::uint32_t>(i) * kThreads + threadIdx.x;
      // A place in each stretch that does not favour a channel.
      const std::uint64_t inside = (std::uint64_t{j * 0x9E3779B1u} * step) >> 32;
      keys[i] = job.source.load_one(scope, static_cast<std::int64_t>(step * j + inside));
    }
    ScopeSum<kWarps> sum(shared);
    low = 0;
    high = 0;
#pragma unroll 1
    for (int bit = Source::kKeyBits - 1; bit >= Source::kZeroBits; --bit) {
      const std::uint32_t tried_low = low | 1u << bit;
      const std::uint32_t tried_high = high | 1u << bit;
      std::uint32_t count = 0;
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        count += (keys[i] >= tried_low ? 1u : 0u) + (keys[i] >= tried_high ? 1u << 16 : 0u);
      count = sum(count);
      if ((count & 0xFFFFu) >= job.low_rank) low = tried_low;
      if (count >> 16 >= job.high_rank) high = tried_high;
    }
    if (job.high_rank == 0) high = 0xFFFFFFFFu;
  }
  if (threadIdx.x == 0) job.plan.states[s] = {low, high, 0, 0, 0, 0, 0};
}

/// The scope and tile of a block of the counting passes.
struct TileRange {
  std::int64_t scope;
  std::int64_t part;  ///< number of the block in the scope
  std::int64_t begin;
  std::int64_t end;
};
__device__ __forceinline__ TileRange tile_range(const SelectPlan& plan) {
  const unsigned scope = blockIdx.x / plan.blocks;
  const std::int64_t part = blockIdx.x - scope * plan.blocks;
  const std::int64_t begin = part * plan.tiles_per_block;
  const std::int64_t end = begin + plan.tiles_per_block;
  return {scope, part, begin, end < plan.tiles ? end : plan.tiles};
}

/// What the bracket leaves of a tile in its place of SelectPlan::counts. The tile's candidates lie
/// one after the other, wherever its block found room.
struct TileCandidates {
  std::uint32_t begin;  ///< of all candidates of the scope
  std::uint32_t found;  ///< at most 1,024, as `above`
  std::uint32_t above;  ///< keys above the bracket

  __device__ __forceinline__ std::uint64_t packed() const {
    return std::uint64_t{begin} << 32 | above << 16 | found;
  }
  static __device__ __forceinline__ TileCandidates of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed) & 0xFFFFu,
            static_cast<std::uint32_t>(packed) >> 16};
  }
};

template <class Source>
__global__ void __launch_bounds__(kThreads, 2)
    select_bracket(const __grid_constant__ SelectJob<Source> job) {
  TERSOR_SHARED_ARRAY(std::uint32_t, found, kWarps);
  TERSOR_SHARED(std::uint32_t, base);
  const TileRange range = tile_range(job.plan);
  const SparseScope scope = job.grid.scope(range.scope);
  SelectState* const state = job.plan.states + range.scope;
  std::uint32_t* const candidates = job.plan.candidates + range.scope * job.plan.room;
  std::uint64_t* const counts = job.plan.counts + range.scope * job.plan.tiles;
  const std::uint32_t low = state->low;
  const std::uint32_t high = state->high;
  std::uint32_t above = 0;
  for (std::int64_t first = range.begin; first < range.end; first += kWarps) {
    std::uint32_t raw[kSubtiles][8];
    std::uint32_t inside = 0;
    std::uint32_t above_of_tile = 0;
#pragma unroll
    for (int c = 0; c < kSubtiles; ++c) {
      const std::int64_t at = (first + warp_of_thread()) * kTile + c * kSubtile;
      std::int64_t own = at + 8 * octet_of_lane<Source::kPaired>(lane_of_thread());
      if (at < scope.length) job.source.load(scope, at, raw[c]);
#pragma unroll
      for (int i = 0; i < 8; ++i, ++own) {
        const bool is_there = own < scope.length;
        const std::uint32_t key = is_there ? Source::key(raw[c][i]) : 0u;
        above_of_tile += is_there && key > high ? 1u : 0u;
        const bool is_inside = is_there && key >= low && key <= high;
        inside |= (is_inside ? 1u : 0u) << (8 * c + i);
        raw[c][i] = key;
      }
    }
    const auto count = static_cast<std::uint32_t>(__popc(inside));
    const std::uint32_t scanned = warp_scan(count);
    if (lane_of_thread() == 31) found[warp_of_thread()] = scanned;
    __syncthreads();
    if (threadIdx.x == 0) {
      std::uint32_t sum = 0;
      for (int w = 0; w < kWarps; ++w) {
        const std::uint32_t own = found[w];
        found[w] = sum;
        sum += own;
      }
      base = sum == 0 ? 0u : atomicAdd(&state->found, sum);
    }
    __syncthreads();
    const std::uint32_t begin = base + found[warp_of_thread()];
    above_of_tile = warp_sum(above_of_tile);
    above += above_of_tile;
    if (lane_of_thread() == 31 && first + warp_of_thread() < range.end)
      counts[first + warp_of_thread()] = TileCandidates{begin, scanned, above_of_tile}.packed();
    std::int64_t to = std::int64_t{begin} + (scanned - count);
#pragma unroll
    for (int c = 0; c < kSubtiles; ++c)
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if ((inside >> (8 * c + i) & 1u) == 0) continue;
        if (to < job.plan.room) candidates[to] = raw[c][i];
        ++to;
      }
    __syncthreads();  // `found` is written again
  }
  if (lane_of_thread() == 0 && above > 0) atomicAdd(&state->above, above);
}

/// Whether the candidates hold the k-th largest key.
__device__ __forceinline__ bool is_bracketed(const SelectState& state, const SelectPlan& plan,
                                             std::int64_t kept) {
  return state.above < kept && std::int64_t{state.above} + state.found >= kept &&
         state.found <= plan.room;
}

template <class Source, int kDigit>
struct Digit {
  static constexpr int kShift = kDigit == 0 ? Source::kKeyBits - 11 : kDigit == 1 ? 10 : 0;
  static constexpr int kWidth = kDigit == 1 ? Source::kKeyBits - 21 : kDigit == 0 ? 11 : 10;
  static __device__ __forceinline__ bool has_prefix(std::uint32_t key, std::uint32_t prefix) {
    return kDigit == 0 || (key ^ prefix) >> (kShift + kWidth) % 32 == 0;
  }
  static __device__ __forceinline__ std::uint32_t of(std::uint32_t key) {
    return key >> kShift & ((1u << kWidth) - 1u);
  }
};

template <class Source, int kDigit>
__global__ void __launch_bounds__(kThreads, kCountingBlocks)
    select_digit(const __grid_constant__ SelectJob<Source> job) {
  TERSOR_SHARED_ARRAY(std::uint32_t, bins, kSelectBins);
  using Own = Digit<Source, kDigit>;
  const TileRange range = tile_range(job.plan);
  const SparseScope scope = job.grid.scope(range.scope);
  const SelectState state = job.plan.states[range.scope];
  const bool is_narrow = is_bracketed(state, job.plan, scope.kept);
  constexpr std::int64_t kCandidates = std::int64_t{kThreads} * 32;
  if (is_narrow && range.part * kCandidates >= state.found) return;
  for (unsigned b = threadIdx.x; b < kSelectBins; b += kThreads) bins[b] = 0;
  __syncthreads();
  if (is_narrow) {
    const std::uint32_t* const keys = job.plan.candidates + range.scope * job.plan.room;
    for (std::int64_t first = range.part * kCandidates; first < state.found;
         first += job.plan.blocks * kCandidates)
      for (std::int64_t i = first + threadIdx.x; i < first + kCandidates && i < state.found;
           i += kThreads)
        if (Own::has_prefix(keys[i], state.key)) atomicAdd(&bins[Own::of(keys[i])], 1u);
  } else {
    for (std::int64_t tile = range.begin + warp_of_thread(); tile < range.end; tile += kWarps)
      for (int c = 0; c < kSubtiles; ++c) {
        const std::int64_t at = tile * kTile + c * kSubtile;
        if (at >= scope.length) break;
        std::uint32_t raw[8];
        job.source.load(scope, at, raw);
        const std::int64_t own = at + 8 * octet_of_lane<Source::kPaired>(lane_of_thread());
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const std::uint32_t key = Source::key(raw[i]);
          if (own + i < scope.length && Own::has_prefix(key, state.key))
            atomicAdd(&bins[Own::of(key)], 1u);
        }
      }
  }
  __syncthreads();
  std::uint32_t* const histogram = job.plan.histogram + range.scope * kSelectBins;
  for (unsigned b = threadIdx.x; b < kSelectBins; b += kThreads)
    if (bins[b] > 0) atomicAdd(&histogram[b], bins[b]);
}

/// The digit of the k-th largest key; a block per scope, eight bins a thread, the highest first.
/// Clears the histogram.
template <class Source, int kDigit>
__global__ void __launch_bounds__(kThreads)
    select_pick(const __grid_constant__ SelectJob<Source> job) {
  TERSOR_SHARED_ARRAY(std::uint32_t, sums, kWarps);
  constexpr int kEach = kSelectBins / kThreads;
  const unsigned s = blockIdx.x;
  const SparseScope scope = job.grid.scope(s);
  SelectState* const state = job.plan.states + s;
  const SelectState before = *state;
  std::uint32_t* const histogram = job.plan.histogram + std::int64_t{s} * kSelectBins;
  const unsigned highest = kSelectBins - 1 - threadIdx.x * kEach;
  std::uint32_t count[kEach];
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    count[i] = histogram[highest - static_cast<unsigned>(i)];
    histogram[highest - static_cast<unsigned>(i)] = 0;
    sum += count[i];
  }
  const std::uint32_t scanned = warp_scan(sum);
  if (lane_of_thread() == 31) sums[warp_of_thread()] = scanned;
  __syncthreads();  // every thread has read the state, too
  std::uint32_t higher = scanned - sum;
  for (unsigned w = 0; w < warp_of_thread(); ++w) higher += sums[w];
  std::uint32_t left = before.left;
  if (kDigit == 0)
    left = static_cast<std::uint32_t>(scope.kept) -
           (is_bracketed(before, job.plan, scope.kept) ? before.above : 0u);
  if (left <= higher || left > higher + sum) return;
  left -= higher;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (left > 0 && left <= count[i]) {
      state->key = before.key | (highest - static_cast<unsigned>(i))
                                    << Digit<Source, kDigit>::kShift;
      state->left = left;
      state->ties = count[i];
      return;
    }
    left -= count[i];
  }
}

/// Work of one warp: a tile of a scope.
struct WarpTile {
  std::int64_t number;  ///< over all scopes
  std::int64_t scope;
  std::int64_t first;  ///< element of the scope
};
__device__ __forceinline__ WarpTile warp_tile(const SelectPlan& plan) {
  const unsigned scope = blockIdx.x / plan.write_blocks;
  const std::int64_t tile =
      std::int64_t{blockIdx.x - scope * plan.write_blocks} * kWarps + warp_of_thread();
  return {scope * plan.tiles + tile, scope, tile * kTile};
}

template <class Source>
__global__ void __launch_bounds__(kThreads)
    select_count(const __grid_constant__ SelectJob<Source> job) {
  const WarpTile tile = warp_tile(job.plan);
  const SparseScope scope = job.grid.scope(tile.scope);
  if (tile.first >= job.plan.tiles * kTile) return;
  const SelectState state = job.plan.states[tile.scope];
  std::uint32_t counts = 0;  // equal << 16, as count_octet
  if (is_bracketed(state, job.plan, scope.kept)) {
    const auto own = TileCandidates::of(job.plan.counts[tile.number]);
    const std::uint32_t* const keys = job.plan.candidates + tile.scope * job.plan.room + own.begin;
    for (std::uint32_t i = lane_of_thread(); i < own.found; i += 32)
      counts += keys[i] > state.key ? 1u : keys[i] == state.key ? 1u << 16 : 0u;
    if (lane_of_thread() == 0) counts += own.above;
  } else {
#pragma unroll
    for (int c = 0; c < kSubtiles; ++c) {
      const std::int64_t at = tile.first + c * kSubtile;
      if (at >= scope.length) break;
      std::uint32_t raw[8];
      job.source.load(scope, at, raw);
      counts += count_octet<Source>(raw, state.key, scope.length - at);
    }
  }
  counts = warp_sum(counts);
  __syncwarp();  // all lanes have read the place
  if (lane_of_thread() == 0)
    job.plan.counts[tile.number] = std::uint64_t{counts & 0xFFFFu} << 32 | counts >> 16;
}

template <class Source>
__global__ void __launch_bounds__(kThreads, Source::kWritingBlocks)
    select_write(const __grid_constant__ SelectJob<Source> job) {
  const WarpTile tile = warp_tile(job.plan);
  const SparseScope scope = job.grid.scope(tile.scope);
  if (tile.first >= job.plan.tiles * kTile) return;
  const SelectState state = job.plan.states[tile.scope];
  const std::uint64_t before = job.plan.counts[tile.number];
  const Chosen chosen{state.key, state.left, job.drops_ties && state.ties > state.left};
  Seen seen{static_cast<std::uint32_t>(before >> 32), static_cast<std::uint32_t>(before)};
  const EntryWriter<Source> writer{job, scope};
#pragma unroll 1
  for (int c = 0; c < kSubtiles; ++c) {
    const std::int64_t at = tile.first + c * kSubtile;
    if (at >= scope.length) return;
    std::uint32_t raw[8];
    job.source.load(scope, at, raw);
    write_subtile<Source>(raw, at, scope.length, chosen, seen, writer);
  }
}

inline constexpr int kScanThreads = 1024;

/// Turns each of the sequences of `length` counts, one after the other, into the sums before: a
/// block per sequence. Halves of a count do not overflow into each other. A template, so that every
/// .cu may hold it.
template <class Count>
__global__ void __launch_bounds__(kScanThreads) scan_counts(Count* counts, std::int64_t length) {
  constexpr int kEach = 8;
  TERSOR_SHARED_ARRAY(Count, sums, 32);
  Count* const own = counts + std::int64_t{blockIdx.x} * length;
  Count before = 0;
  for (std::int64_t first = 0; first < length; first += kScanThreads * kEach) {
    const std::int64_t at = first + std::int64_t{threadIdx.x} * kEach;
    Count x[kEach];
    Count sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      x[i] = at + i < length ? own[at + i] : Count{0};
      sum += x[i];
    }
    const Count scanned = warp_scan(sum);
    if (lane_of_thread() == 31) sums[warp_of_thread()] = scanned;
    __syncthreads();
    if (warp_of_thread() == 0) sums[lane_of_thread()] = warp_scan(sums[lane_of_thread()]);
    __syncthreads();
    Count to = before + scanned - sum;
    if (warp_of_thread() > 0) to += sums[warp_of_thread() - 1];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (at + i < length) own[at + i] = to;
      to += x[i];
    }
    before += sums[31];
    __syncthreads();  // `sums` is written again
  }
}

inline unsigned grid_of(std::int64_t blocks, const char* codec) {
  if (blocks > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported,
                std::string(codec) + ": a message needs more blocks than a CUDA grid has");
  return static_cast<unsigned>(blocks);
}

template <class Source, int kDigit>
void launch_digit(const SelectJob<Source>& job, const char* codec, void* stream) {
  TERSOR_LAUNCH((select_digit<Source, kDigit>), grid_of(job.plan.scopes * job.plan.blocks, codec),
                kThreads, 0, stream, job);
  TERSOR_LAUNCH((select_pick<Source, kDigit>), grid_of(job.plan.scopes, codec), kThreads, 0, stream,
                job);
}

template <class Source>
void launch_select_long(const SelectJob<Source>& job, const char* codec, void* stream) {
  const SelectPlan& plan = job.plan;
  const unsigned scopes = grid_of(plan.scopes, codec);
  const unsigned warps = grid_of(plan.scopes * plan.write_blocks, codec);
  TERSOR_LAUNCH(select_start<Source>, scopes, kThreads, 0, stream, job);
  TERSOR_LAUNCH(select_bracket<Source>, grid_of(plan.scopes * plan.blocks, codec), kThreads, 0,
                stream, job);
  launch_digit<Source, 0>(job, codec, stream);
  launch_digit<Source, 1>(job, codec, stream);
  if constexpr (Source::kDigits == 3) launch_digit<Source, 2>(job, codec, stream);
  TERSOR_LAUNCH(select_count<Source>, warps, kThreads, 0, stream, job);
  TERSOR_LAUNCH(scan_counts<std::uint64_t>, scopes, kScanThreads, 0, stream, plan.counts,
                plan.tiles);
  TERSOR_LAUNCH(select_write<Source>, warps, kThreads, 0, stream, job);
}

template <class Source>
void launch_select_short(const SelectJob<Source>& job, const char* codec, void* stream) {
  const std::int64_t scopes = job.grid.scopes;
  const std::int64_t longest = job.grid.full.length;
  const unsigned warps = grid_of(blocks_for(scopes, kScopesPerBlock), codec);
  if (longest <= kSubtile)
    TERSOR_LAUNCH((select_in_registers<Source, 1, 1>), warps, 32 * kScopesPerBlock, 0, stream, job);
  else if (longest <= kTile)
    TERSOR_LAUNCH((select_in_registers<Source, 1, 4>), warps, 32 * kScopesPerBlock, 0, stream, job);
  else if (longest <= 4 * kTile)
    TERSOR_LAUNCH((select_in_registers<Source, 4, 4>), grid_of(scopes, codec), 128, 0, stream, job);
  else
    TERSOR_LAUNCH((select_in_registers<Source, 16, 4>), grid_of(scopes, codec), 512, 0, stream,
                  job);
}

}  // namespace tersor::compressors::device
