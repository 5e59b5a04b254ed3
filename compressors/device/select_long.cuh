// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/select_entries.cuh"

/// Selection from scopes that do not fit, with a warp per tile of 1,024 elements (select.cuh
/// launches the passes):
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

/// What the bracket leaves of a tile in its place of SelectPlan::counts. The tile's candidates are
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
      std::int64_t own = at + 8 * thread_tile_of_lane<Source::kPaired>(lane_of_thread());
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
                                             std::int64_t selected) {
  return state.above < selected && std::int64_t{state.above} + state.found >= selected &&
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
  const bool is_narrow = is_bracketed(state, job.plan, scope.selected);
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
        const std::int64_t own = at + 8 * thread_tile_of_lane<Source::kPaired>(lane_of_thread());
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
    left = static_cast<std::uint32_t>(scope.selected) -
           (is_bracketed(before, job.plan, scope.selected) ? before.above : 0u);
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
  std::uint32_t counts = 0;  // equal << 16, as count_thread_tile
  if (is_bracketed(state, job.plan, scope.selected)) {
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
      counts += count_thread_tile<Source>(raw, state.key, scope.length - at);
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

}  // namespace tersor::compressors::device
