// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/scaled_codes.cuh"

/// The decoding kernel of scaled.cuh: any number of payloads, one pass over the output.
namespace tersor::compressors::device {

/// The lane's thread tile of codes: `bytes` of them at any address. Neighbouring lanes read
/// neighbouring bytes, so that a warp asks for whole sectors.
__device__ __forceinline__ std::uint64_t load_codes(const std::byte* from, int bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  if (bytes == 8 && address % 8 == 0) {
    const uint2 words = load_vector(reinterpret_cast<const uint2*>(from));
    return words.x | static_cast<std::uint64_t>(words.y) << 32;
  }
  if (bytes == 4 && address % 4 == 0) return *reinterpret_cast<const std::uint32_t*>(from);
  if (bytes == 2 && address % 2 == 0) return *reinterpret_cast<const std::uint16_t*>(from);
  std::uint64_t packed = 0;
#pragma unroll 1
  for (int i = 0; i < bytes; ++i) packed |= static_cast<std::uint64_t>(from[i]) << 8 * i;
  return packed;
}

/// The same for a thread tile with elements of several scopes, one by one: correct rather than
/// fast.
template <class Out, class Coder>
__device__ __forceinline__ void decode_scattered(const Payloads& payloads, const Scopes& scopes,
                                                 const Coder& coder, bool is_accumulated,
                                                 std::int64_t element, typename Out::Storage* out) {
#pragma unroll 1
  for (int i = 0; i < 8 && element + i < scopes.n; ++i) {
    const std::int64_t scope = scopes.of(element + i);
    float sum = is_accumulated ? Out::widen(out[element + i]) : 0.0f;
#pragma unroll 1
    for (int p = 0; p < payloads.count; ++p) {
      const std::byte* payload = payloads.at[p];
      const std::byte* codes = payload + coder.metadata_bytes + element / 8 * coder.width;
      const int bit = coder.width * i;
      std::uint32_t code = static_cast<std::uint32_t>(codes[bit / 8]) >> bit % 8;
      if (bit % 8 + coder.width > 8)
        code |= static_cast<std::uint32_t>(codes[bit / 8 + 1]) << (8 - bit % 8);
      code &= (1u << coder.width) - 1;
      const float value = coder.value(code, coder.step_of(payload, scope, scopes.scopes));
      sum = p == 0 && !is_accumulated ? value : __fadd_rn(sum, value);
    }
    out[element + i] = Out::round(sum);
  }
}

/// out = (out +) the sum of the decoded payloads in their order, rounded to Out.
template <class Out, class Coder>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    decode_kernel(const __grid_constant__ Payloads payloads, Scopes scopes,
                  const __grid_constant__ Coder coder, bool is_accumulated,
                  typename Out::Storage* out) {
  const std::int64_t tile = first_of_tile();
  const unsigned thread_tile = thread_tile_of_lane<kIsPaired<Out>>(lane_of_thread());
  const std::uint32_t mask = (1u << coder.width) - 1;
  const bool is_scattered = !scopes.is_thread_tile_in_one && !scopes.is_thread_tile_consecutive;
#pragma unroll 1
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t first = tile + j * kSubtile;
    if (first >= scopes.n) return;
    const std::int64_t element = first + 8 * thread_tile;
    const std::int64_t left = scopes.n - element;
    if (is_scattered) {
      decode_scattered<Out>(payloads, scopes, coder, is_accumulated, element, out);
      continue;
    }
    const int bytes = left >= 8 ? coder.width : static_cast<int>((left * coder.width + 7) / 8);
    const std::int64_t scope = left > 0 ? scopes.of(element) : 0;
    float sum[8];
    if (is_accumulated)
      load_thread_tile<Out>(out + first, scopes.n - first, is_aligned_16(out), sum);
#pragma unroll 1
    for (int p = 0; p < payloads.count && left > 0; ++p) {
      const std::byte* payload = payloads.at[p];
      const std::uint64_t packed =
          load_codes(payload + coder.metadata_bytes + element / 8 * coder.width, bytes);
      const auto low = static_cast<std::uint32_t>(packed);
      const auto high = static_cast<std::uint32_t>(packed >> 4 * coder.width);
      const bool is_first = p == 0 && !is_accumulated;
      typename Coder::Step step = coder.step_of(payload, scope, scopes.scopes);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (i > 0 && scopes.is_thread_tile_consecutive)
          step = coder.step_of(payload, scope + i, scopes.scopes);
        const float value = coder.value((i < 4 ? low : high) >> coder.width * (i % 4) & mask, step);
        sum[i] = is_first ? value : __fadd_rn(sum[i], value);
      }
    }
    store_thread_tile<Out>(out + first, scopes.n - first, is_aligned_16(out), sum);
  }
}

/// The same with an array for each payload (DecodeTarget::feedback).
template <class Coder>
__global__ void __launch_bounds__(kThreads, kEncodingBlocks)
    decode_feedback_kernel(const __grid_constant__ Payloads payloads,
                           const __grid_constant__ FeedbackArrays feedback, Scopes scopes,
                           const __grid_constant__ Coder coder, bool is_accumulated, float* out) {
  const std::int64_t tile = first_of_tile();
  const unsigned thread_tile = thread_tile_of_lane<true>(lane_of_thread());
  const std::uint32_t mask = (1u << coder.width) - 1;
#pragma unroll 1
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t first = tile + j * kSubtile;
    if (first >= scopes.n) return;
    const std::int64_t count = scopes.n - first;
    const std::int64_t element = first + 8 * thread_tile;
    const std::int64_t left = scopes.n - element;
    const int bytes = left >= 8 ? coder.width : static_cast<int>((left * coder.width + 7) / 8);
    const std::int64_t scope = left > 0 ? scopes.of(element) : 0;
    float sum[8];
    if (is_accumulated) load_thread_tile<Float32>(out + first, count, is_aligned_16(out), sum);
#pragma unroll 1
    for (int p = 0; p < payloads.count; ++p) {
      float value[8] = {};
      if (left > 0) {
        const std::byte* payload = payloads.at[p];
        const std::uint64_t packed =
            load_codes(payload + coder.metadata_bytes + element / 8 * coder.width, bytes);
        const auto low = static_cast<std::uint32_t>(packed);
        const auto high = static_cast<std::uint32_t>(packed >> 4 * coder.width);
        typename Coder::Step step = coder.step_of(payload, scope, scopes.scopes);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          if (i > 0 && i < left && !scopes.is_thread_tile_in_one)
            step = coder.step_of(
                payload, scopes.is_thread_tile_consecutive ? scope + i : scopes.of(element + i),
                scopes.scopes);
          value[i] = coder.value((i < 4 ? low : high) >> coder.width * (i % 4) & mask, step);
        }
      }
      add_to_feedback(feedback.at[p] + first, count, value, p == 0 && !is_accumulated, sum);
    }
    store_thread_tile<Float32>(out + first, count, is_aligned_16(out), sum);
  }
}

}  // namespace tersor::compressors::device
