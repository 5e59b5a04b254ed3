// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/select_long.cuh"
#include "compressors/device/select_short.cuh"

/// Selection of the k largest keys of each scope, ties to the lowest index, the result in ascending
/// order of the index: short scopes in one launch (select_short.cuh), longer ones in passes over
/// tiles (select_long.cuh).
namespace tersor::compressors::device {

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
