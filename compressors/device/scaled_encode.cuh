// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/scaled_codes.cuh"

/// The encoding kernels of scaled.cuh, one or two for each DeviceReach.
namespace tersor::compressors::device {

/// Codes of a thread tile with elements of several scopes, one by one: correct rather than fast.
/// Other lanes may have rewritten the feedback by now, so the values come from x.
template <class In, class Coder>
__device__ __forceinline__ std::uint64_t scattered_codes(
    const Coder& coder, typename Source<In>::Tensor in, const Scopes& scopes,
    const typename Coder::Key* keys, float tensor, std::int64_t element, const float* thread_tile,
    typename Source<In>::Base& base) {
  using From = Source<In>;
  std::uint64_t packed = 0;
#pragma unroll 1
  for (int i = 0; i < 8 && element + i < scopes.n; ++i) {
    const auto scale = coder.scale_of(keys[scopes.of(element + i)], tensor);
    float x = 0.0f;
    if constexpr (From::kHasFeedback) {
#pragma unroll
      for (int j = 0; j < 8; ++j) x = j == i ? thread_tile[j] : x;
    } else {
      x = From::at(in, element + i);
    }
    const std::uint64_t code = coder.rounding.is_stochastic
                                   ? coder.code_drawn(x, scale, coder.rounding.draw(element + i))
                                   : coder.code(x, scale);
    packed |= code << coder.width * i;
    if constexpr (From::kHasFeedback) {
      const float value = coder.value(static_cast<std::uint32_t>(code), coder.step_of(scale));
#pragma unroll
      for (int j = 0; j < 8; ++j)
        base.values[j] = j == i ? __fadd_rn(base.values[j], value) : base.values[j];
    }
  }
  return packed;
}

/// Codes of a thread tile of one scope, and what they decode to added to `base`.
template <class In, class Coder>
__device__ __forceinline__ std::uint64_t encode_thread_tile(const Coder& coder, const float* x,
                                                            std::int64_t element,
                                                            const typename Coder::Scale& scale,
                                                            typename Source<In>::Base& base) {
  const std::uint64_t packed = codes_of(coder, x, element, [&](int) { return scale; });
  if constexpr (Source<In>::kHasFeedback) {
    const typename Coder::Step step = coder.step_of(scale);
    add_decoded<In>(
        coder, packed, [&](int) { return step; }, base);
  }
  return packed;
}

/// What the coder makes of the tensor's key, from the partial keys of long_keys_kernel; 0 for
/// coders without a scale of the tensor.
template <class Coder>
__device__ __forceinline__ float tensor_scale(const Coder& coder, std::byte* payload,
                                              const typename Coder::Key* partials,
                                              std::int64_t count) {
  if constexpr (Coder::kHasTensorScale) {
    typename Coder::Key key;
    for (std::int64_t i = threadIdx.x; i < count; i += kThreads) key.merge(partials[i]);
    merge_block(key);
    const float tensor = coder.tensor_of(key);
    if (blockIdx.x == 0 && threadIdx.x == 0) coder.write_tensor(payload, tensor);
    return tensor;
  }
  return 0.0f;
}

/// Where the keys of a tile's scopes come from.
template <class Key>
struct KeySource {
  unsigned thread_tiles = 0;  ///< > 0: kSegment, scopes of so many thread tiles, merged over lanes
  std::int64_t chunks = 0;    ///< > 0: kLong, so many partial keys a run in `keys`
  std::int64_t parts = 0;     ///< kLong: blocks of a run
  const Key* keys = nullptr;  ///< else a key per scope
  const Key* tensor = nullptr;  ///< partial keys of the tensor, for coders that have its scale
  std::int64_t tensor_count = 0;
};

/// kSegment (the one launch), kLong and kScattered (the second): a warp takes a tile.
template <class In, class Coder>
__global__ void __launch_bounds__(kThreads, Source<In>::kEncodingBlocks)
    encode_tiles_kernel(typename Source<In>::Tensor in, Scopes scopes,
                        const __grid_constant__ Coder coder,
                        const __grid_constant__ KeySource<typename Coder::Key> source,
                        std::byte* payload) {
  using From = Source<In>;
  using Key = typename Coder::Key;
  TERSOR_STAGE(stage);
  const float tensor = tensor_scale(coder, payload, source.tensor, source.tensor_count);
  Key of_block;
  std::int64_t first = first_of_tile();
  std::int64_t count = scopes.n - first;
  if (source.chunks > 0) {
    const std::int64_t run = blockIdx.x / source.parts;
    const std::int64_t part = blockIdx.x - run * source.parts;
    for (std::int64_t i = threadIdx.x; i < source.chunks; i += kThreads)
      of_block.merge(source.keys[run * source.chunks + i]);
    merge_block(of_block);
    if (part == 0 && threadIdx.x == 0)
      coder.write(payload, run, scopes.scopes, of_block, coder.scale_of(of_block, tensor));
    const std::int64_t tile = (part * kWarps + warp_of_thread()) * kTile;
    first = run * scopes.length + tile;
    count = scopes.length - tile;
  } else if (source.keys != nullptr) {
    for (std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
         scope < scopes.scopes; scope += static_cast<std::int64_t>(gridDim.x) * kThreads)
      coder.write(payload, scope, scopes.scopes, source.keys[scope],
                  coder.scale_of(source.keys[scope], tensor));
  }
  if (count <= 0) return;
  const bool is_scattered =
      source.keys != nullptr && source.chunks == 0 && !scopes.is_thread_tile_in_one;
  write_tile<In>(
      coder, stage, in + first, first, count, payload,
      [&](const float* x, typename From::Base& base, std::int64_t element, std::int64_t left) {
        if (is_scattered)
          return scattered_codes<In>(coder, in, scopes, source.keys, tensor, element, x, base);
        Key key = of_block;
        if (source.thread_tiles > 0) {
          if (left > 0) take_thread_tile(key, x, 8);
#pragma unroll
          for (int bit = 0; bit < 5; ++bit)
            if (1u << bit < source.thread_tiles)
              key.merge_lanes(lane_distance<From::kIsPaired>(bit));
        } else if (source.chunks == 0 && left > 0) {
          key = source.keys[scopes.of(element)];
        }
        const typename Coder::Scale scale = coder.scale_of(key, tensor);
        if (source.thread_tiles > 0 && left > 0) {
          const std::int64_t scope = scopes.divide(element, scopes.length);
          if (element == scope * scopes.length)
            coder.write(payload, scope, scopes.scopes, key, scale);
        }
        return encode_thread_tile<In>(coder, x, element, scale, base);
      });
}

/// DeviceReach::kRun: a warp per scope, one launch. The run is read twice, the second time from a
/// cache.
template <class In, class Coder>
__global__ void __launch_bounds__(kThreads, Source<In>::kEncodingBlocks)
    encode_runs_kernel(typename Source<In>::Tensor in, Scopes scopes,
                       const __grid_constant__ Coder coder, std::byte* payload) {
  TERSOR_STAGE(stage);
  const std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (scope >= scopes.scopes) return;
  const std::int64_t begin = scope * scopes.length;
  typename Coder::Key key;
  for (std::int64_t tile = 0; tile < scopes.length; tile += kTile)
    for_each_thread_tile<In>(in + begin + tile, scopes.length - tile,
                             [&](const float* x, const auto&, unsigned, std::int64_t left) {
                               take_thread_tile(key, x, left);
                             });
  merge_warp(key);
  const typename Coder::Scale scale = coder.scale_of(key, 0.0f);
  if (lane_of_thread() == 0) coder.write(payload, scope, scopes.scopes, key, scale);
  for (std::int64_t tile = 0; tile < scopes.length; tile += kTile)
    write_tile<In>(coder, stage, in + begin + tile, begin + tile, scopes.length - tile, payload,
                   [&](const float* x, auto& base, std::int64_t element, std::int64_t) {
                     return encode_thread_tile<In>(coder, x, element, scale, base);
                   });
}

/// DeviceReach::kLong, first launch: block (chunk, run) reduces its tiles of the run.
template <class In, class Key>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    long_keys_kernel(typename Source<In>::Tensor in, std::int64_t length, std::int64_t chunks,
                     Key* keys) {
  const std::int64_t run = blockIdx.x / chunks;
  const std::int64_t chunk = blockIdx.x - run * chunks;
  Key key;
  for (std::int64_t tile = (chunk * kWarps + warp_of_thread()) * kTile; tile < length;
       tile += chunks * kWarps * kTile)
    for_each_thread_tile<In>(in + run * length + tile, length - tile,
                             [&](const float* x, const auto&, unsigned, std::int64_t left) {
                               take_thread_tile(key, x, left);
                             });
  merge_block(key);
  if (threadIdx.x == 0) keys[blockIdx.x] = key;
}

/// DeviceReach::kChannel, first launch: block (tile of 256 columns, chunk of rows). A warp takes
/// every eighth row of the chunk, a lane eight columns of it.
template <class In, class Key>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    channel_keys_kernel(typename Source<In>::Tensor in, std::int64_t rows, std::int64_t hidden,
                        std::int64_t chunks, Key* keys) {
  TERSOR_SHARED_ARRAY(std::uint32_t, words, kWarps * kChannelTile * sizeof(Key) / 4);
  auto* shared = reinterpret_cast<Key*>(words);
  const std::int64_t tile = blockIdx.x / chunks;
  const std::int64_t chunk = blockIdx.x - tile * chunks;
  const std::int64_t columns = hidden - tile * kChannelTile;
  const unsigned first = 8 * thread_tile_of_lane<Source<In>::kIsPaired>(lane_of_thread());
  const std::int64_t per_chunk = (rows + chunks - 1) / chunks;
  const std::int64_t end = (chunk + 1) * per_chunk < rows ? (chunk + 1) * per_chunk : rows;
  Key key[8];
  for (std::int64_t row = chunk * per_chunk + warp_of_thread(); row < end; row += kWarps) {
    const auto from = in + (row * hidden + tile * kChannelTile);
    float x[8];
    typename Source<In>::Base base;
    Source<In>::load(from, columns, Source<In>::alignment(from), x, base);
#pragma unroll
    for (int i = 0; i < 8; ++i) key[i].take(x[i]);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) shared[warp_of_thread() * kChannelTile + first + i] = key[i];
  __syncthreads();
  if (threadIdx.x >= columns) return;
  Key merged;
  for (int warp = 0; warp < kWarps; ++warp) merged.merge(shared[warp * kChannelTile + threadIdx.x]);
  keys[chunk * hidden + tile * kChannelTile + threadIdx.x] = merged;
}

/// DeviceReach::kChannel, second launch, with the same columns for a lane in all its rows.
template <class In, class Coder>
__global__ void __launch_bounds__(kThreads, 2)
    encode_channels_kernel(typename Source<In>::Tensor in, Scopes scopes,
                           const __grid_constant__ Coder coder, std::int64_t chunks,
                           std::int64_t parts, const typename Coder::Key* keys,
                           std::byte* payload) {
  using From = Source<In>;
  using Key = typename Coder::Key;
  TERSOR_STAGE(stage);
  TERSOR_SHARED_ARRAY(std::uint32_t, words, kChannelTile * sizeof(Key) / 4);
  auto* shared = reinterpret_cast<Key*>(words);
  const std::int64_t hidden = scopes.hidden;
  const std::int64_t rows = scopes.n / hidden;
  const std::int64_t tile = blockIdx.x / parts;
  const std::int64_t part = blockIdx.x - tile * parts;
  const std::int64_t columns = hidden - tile * kChannelTile;
  const std::int64_t column = tile * kChannelTile + threadIdx.x;
  Key merged;
  if (threadIdx.x < columns) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      merged.merge(keys[chunk * hidden + column]);
    if (part == 0)
      coder.write(payload, column, scopes.scopes, merged, coder.scale_of(merged, 0.0f));
  }
  shared[threadIdx.x] = merged;
  __syncthreads();
  const unsigned first = 8 * thread_tile_of_lane<Source<In>::kIsPaired>(lane_of_thread());
  typename Coder::Scale scale[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) scale[i] = coder.scale_of(shared[first + i], 0.0f);
  const std::int64_t per_part = (rows + parts - 1) / parts;
  const std::int64_t end = (part + 1) * per_part < rows ? (part + 1) * per_part : rows;
  const unsigned count = columns < kChannelTile ? static_cast<unsigned>(columns) : kChannelTile;
  for (std::int64_t row = part * per_part + warp_of_thread(); row < end; row += kWarps) {
    const std::int64_t element = row * hidden + tile * kChannelTile;
    const auto alignment = From::alignment(in + element);
    float x[8];
    typename From::Base base;
    From::load(in + element, columns, alignment, x, base);
    std::byte* to = payload + coder.metadata_bytes + element / 8 * coder.width;
    const unsigned skew = Stage::skew_of(to);
    if (first < count) {
      const std::uint64_t packed =
          codes_of(coder, x, element + first, [&](int i) { return scale[i]; });
      stage.put(skew + first / 8 * coder.width, coder.width, packed);
      add_decoded<In>(
          coder, packed, [&](int i) { return coder.step_of(scale[i]); }, base);
    }
    From::store(in + element, columns, alignment, base);
    __syncwarp();
    stage.flush(to, count / 8 * coder.width);
    __syncwarp();
  }
}

/// DeviceReach::kScattered, first launch: a warp per scope, or a thread per channel.
template <class In, class Key>
__global__ void __launch_bounds__(kThreads)
    scattered_keys_kernel(typename Source<In>::Tensor in, Scopes scopes, Key* keys) {
  Key key;
  if (scopes.kind == Scopes::kChannels) {
    const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (channel >= scopes.scopes) return;
    for (std::int64_t i = channel; i < scopes.n; i += scopes.hidden)
      key.take(Source<In>::at(in, i));
    keys[channel] = key;
    return;
  }
  const std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (scope >= scopes.scopes) return;
  const ScopeSlice slice = scopes.slice(scope);
  for (std::int64_t i = lane_of_thread(); i < slice.length; i += 32)
    key.take(Source<In>::at(in, slice.begin + i));
  merge_warp(key);
  if (lane_of_thread() == 0) keys[scope] = key;
}

}  // namespace tersor::compressors::device
