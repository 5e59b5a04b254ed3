// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/select_entries.cuh"

/// Selection from scopes that fit the registers of a warp or block: one launch (select.cuh).
namespace tersor::compressors::device {

inline constexpr int kScopesPerBlock = 8;  ///< where a warp takes one
/// Of launch bounds. 0: none, which spills registers where there is feedback.
template <class Source, int kScopeWarps, int kCount>
inline constexpr int kShortBlocks = kScopeWarps == 16                 ? 1
                                    : !Source::kHasFeedback           ? 0
                                    : kCount == 1 || kScopeWarps == 4 ? 4
                                                                      : 2;

/// kScopeWarps warps hold kCount sub-tiles each of a scope. The threshold is found bit by bit.
template <class Source, int kScopeWarps, int kCount>
__global__ void __launch_bounds__(kScopeWarps == 1 ? 32 * kScopesPerBlock : 32 * kScopeWarps,
                                  kShortBlocks<Source, kScopeWarps, kCount>)
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
  const auto selected = static_cast<std::uint32_t>(scope.selected);
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
    if (count >= selected) key = tried;
    is_exact = count == selected;
  }

  Chosen chosen{key, 0, false};
  if (is_exact) chosen.key = key - 1;  // all from `key` on, and no tie with what is left
  std::uint32_t counts = 0;
#pragma unroll
  for (int c = 0; c < kCount; ++c)
    counts += count_thread_tile<Source>(raw[c], chosen.key, scope.length - part - c * kSubtile);
  Seen seen;
  if (!is_exact) {
    const std::uint32_t above = sum(counts & 0xFFFFu);
    const std::uint32_t equal = sum(counts >> 16);
    chosen.ties_taken = selected - above;
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

}  // namespace tersor::compressors::device
