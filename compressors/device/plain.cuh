// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/encode_sources.cuh"

/// Kernels of payloads that are arrays of floats (`cast`, `none`).
namespace tersor::compressors::device {

/// The lane's thread tile of an array of T at any address.
template <class T, bool kPaired>
__device__ __forceinline__ void load_plain(const std::byte* from, std::int64_t count, float* x) {
  using Storage = typename T::Storage;
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Storage) == 0)
    return load_thread_tile<T, kPaired>(reinterpret_cast<const Storage*>(from), count,
                                        is_aligned_16(from), x);
  const unsigned first = 8 * thread_tile_of_lane<kPaired>(lane_of_thread());
  for (int i = 0; i < 8; ++i) {
    x[i] = 0.0f;
    if (first + i >= count) continue;
    const std::byte* at = from + (first + i) * sizeof(Storage);
    if constexpr (sizeof(Storage) == 4)
      x[i] = float_of(load_bytes<std::uint32_t>(at));
    else
      x[i] = T::widen(load_bytes<std::uint16_t>(at));
  }
}

/// And back, rounded to T.
template <class T, bool kPaired>
__device__ __forceinline__ void store_plain(std::byte* to, std::int64_t count, const float* x) {
  using Storage = typename T::Storage;
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Storage) == 0)
    return store_thread_tile<T, kPaired>(reinterpret_cast<Storage*>(to), count, is_aligned_16(to),
                                         x);
  const unsigned first = 8 * thread_tile_of_lane<kPaired>(lane_of_thread());
  for (int i = 0; i < 8; ++i) {
    if (first + i >= count) continue;
    std::byte* at = to + (first + i) * sizeof(Storage);
    if constexpr (sizeof(Storage) == 4)
      store_bytes(at, bits_of(T::round(x[i])));
    else
      store_bytes(at, T::round(x[i]));
  }
}

template <class In, class Out>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    round_kernel(typename Source<In>::Tensor in, std::int64_t n, std::byte* out) {
  using From = Source<In>;
  const std::int64_t tile = first_of_tile();
#pragma unroll
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t first = tile + j * kSubtile;
    if (first >= n) return;
    const std::int64_t count = n - first;
    float x[8];
    typename From::Base base;
    From::load(in + first, count, From::alignment(in), x, base);
    store_plain<Out, From::kIsPaired>(out + first * sizeof(typename Out::Storage), count, x);
    if constexpr (From::kHasFeedback) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        base.values[i] = __fadd_rn(base.values[i], Out::widen(Out::round(x[i])));
      From::store(in + first, count, From::alignment(in), base);
    }
  }
}

/// out = (out +) the sum of the payloads in their order, rounded to Out.
template <class In, class Out>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    sum_kernel(const __grid_constant__ Payloads payloads, std::int64_t n, bool is_accumulated,
               typename Out::Storage* out) {
  constexpr bool kPaired = kIsPaired<In> || kIsPaired<Out>;
  const std::int64_t tile = first_of_tile();
#pragma unroll 1  // many warps hide the latency; unrolled, registers spill
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t first = tile + j * kSubtile;
    if (first >= n) return;
    const std::int64_t count = n - first;
    float sum[8];
    float x[8];
    if (is_accumulated) load_thread_tile<Out, kPaired>(out + first, count, is_aligned_16(out), sum);
    for (int p = 0; p < payloads.count; ++p) {
      load_plain<In, kPaired>(payloads.at[p] + first * sizeof(typename In::Storage), count, x);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum[i] = p == 0 && !is_accumulated ? x[i] : __fadd_rn(sum[i], x[i]);
    }
    store_thread_tile<Out, kPaired>(out + first, count, is_aligned_16(out), sum);
  }
}

/// The same with an array for each payload (DecodeTarget::feedback).
template <class In>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    sum_feedback_kernel(const __grid_constant__ Payloads payloads,
                        const __grid_constant__ FeedbackArrays feedback, std::int64_t n,
                        bool is_accumulated, float* out) {
  const std::int64_t tile = first_of_tile();
#pragma unroll 1
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t first = tile + j * kSubtile;
    if (first >= n) return;
    const std::int64_t count = n - first;
    float sum[8];
    if (is_accumulated) load_thread_tile<Float32>(out + first, count, is_aligned_16(out), sum);
#pragma unroll 1
    for (int p = 0; p < payloads.count; ++p) {
      float x[8];
      load_plain<In, true>(payloads.at[p] + first * sizeof(typename In::Storage), count, x);
      add_to_feedback(feedback.at[p] + first, count, x, p == 0 && !is_accumulated, sum);
    }
    store_thread_tile<Float32>(out + first, count, is_aligned_16(out), sum);
  }
}

/// Sums payloads of In into the target.
template <class In>
void launch_sum(std::span<const std::span<const std::byte>> all, std::int64_t n,
                const DecodeTarget& target, const char* codec, void* stream) {
  const FeedbackArrays feedback(target.feedback);
  for_each_batch(all, target.is_accumulated, [&](const Payloads& payloads, bool is_accumulated) {
    if (!target.feedback.empty())
      return TERSOR_LAUNCH(sum_feedback_kernel<In>, blocks_of_tiles(n, codec), kThreads, 0, stream,
                           payloads, feedback, n, is_accumulated, static_cast<float*>(target.data));
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH((sum_kernel<In, Out>), blocks_of_tiles(n, codec), kThreads, 0, stream, payloads,
                    n, is_accumulated, static_cast<typename Out::Storage*>(target.data));
    });
  });
}

}  // namespace tersor::compressors::device
