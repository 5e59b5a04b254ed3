// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/fixed_tree.cuh"
#include "compressors/device/scaled_decode.cuh"
#include "compressors/device/scaled_encode.cuh"

/// Kernels of codecs that send codes of 1 to 8 bits and something per scope (`quantize`, `minmax`,
/// `fp8`, `mx`, `nvfp4`). What differs between them is a Coder, a struct of values that travels to
/// the kernel:
///
///   using Key                      what a scope is reduced to: MagnitudeKey or RangeKey
///   using Scale, Step              what encoding and decoding need of a scope
///   int width                      bits of a code
///   Rounding rounding              the draws of stochastic rounding
///   std::int64_t metadata_bytes    bytes of the payload before the codes
///
///   Scale scale_of(Key, float tensor)
///   void write(std::byte* payload, std::int64_t scope, std::int64_t scopes, Key, Scale)
///   std::uint32_t code(float x, Scale), code_drawn(float x, Scale, std::int32_t draw)
///   Step step_of(const std::byte* payload, std::int64_t scope, std::int64_t scopes)
///   Step step_of(Scale)            the same from what write() wrote
///   float value(std::uint32_t code, Step)
///
///   static constexpr bool kHasChannels, kHasMeans    whether channels and means are ever used
///   static constexpr bool kHasTensorScale            whether there is a scale of the tensor
///
/// With kHasTensorScale the coder also has
///
///   float tensor_of(Key)           of the tensor's key; `tensor` above is this, else 0
///   void write_tensor(std::byte* payload, float tensor)
///
/// Nothing depends on the grid: keys merge in any order, and all else is per element.
namespace tersor::compressors::device {

/// Arrays in the caller's workspace.
class DeviceScratch {
 public:
  DeviceScratch(const Context& context, const char* codec)
      : free_(context.workspace), codec_(codec) {}
  template <class T>
  T* take(std::int64_t count) {
    constexpr std::uintptr_t kAlignment = 64;
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(free_.data());
    const std::size_t skip = (kAlignment - start % kAlignment) % kAlignment;
    const std::size_t bytes = skip + static_cast<std::size_t>(count) * sizeof(T);
    if (bytes > free_.size())
      throw Error(ErrorKind::kUsage,
                  std::string(codec_) + ": the workspace is smaller than workspace_bytes()");
    auto* taken = reinterpret_cast<T*>(free_.data() + skip);
    free_ = free_.subspan(bytes);
    return taken;
  }

 private:
  std::span<std::byte> free_;
  const char* codec_;
};

inline unsigned checked_grid(std::int64_t blocks, const char* codec) {
  if (blocks > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported,
                std::string(codec) + ": the message has more scopes than a CUDA grid has blocks");
  return static_cast<unsigned>(blocks);
}

/// Launches the mean of x^2 of each scope into keys.
template <class In, class Key>
void launch_means(typename Source<In>::Tensor in, const Scopes& scopes, Key* keys,
                  DeviceScratch& scratch, void* stream, const char* codec) {
  const bool is_channel = scopes.kind == Scopes::kChannels;
  const std::int64_t length = is_channel ? scopes.n / scopes.hidden : scopes.length;
  const std::int64_t blocks = divide_up(length, kTreeBlock);
  auto* sums = scratch.take<float>(scopes.scopes * blocks);
  if (is_channel)
    TERSOR_LAUNCH((tree_channels_kernel<In, true>),
                  checked_grid(divide_up(scopes.hidden, 32) * blocks, codec), 1024, 0, stream, in,
                  scopes, blocks, sums);
  else
    TERSOR_LAUNCH((tree_runs_kernel<In, true>),
                  checked_grid(divide_up(scopes.scopes * blocks, kWarps), codec), kThreads, 0,
                  stream, in, scopes, blocks, sums);
  TERSOR_LAUNCH(tree_means_kernel<Key>, checked_grid(divide_up(scopes.scopes, kWarps), codec),
                kThreads, 0, stream, scopes, blocks, sums, keys);
}

template <class In, class Coder>
void launch_encode_typed(typename Source<In>::Tensor in, const Shape& shape, const ScopeGrid& grid,
                         const Coder& coder, bool is_mean, std::byte* payload,
                         const Context& context, const char* codec) {
  using Key = typename Coder::Key;
  const DevicePlan plan = device_plan(grid, shape);
  const Scopes scopes = device_scopes(grid, shape);
  DeviceScratch scratch(context, codec);
  void* stream = context.stream;
  const std::int64_t tiles = blocks_of_tiles(scopes.n, codec);

  const Key* tensor_keys = nullptr;
  std::int64_t tensor_count = 0;
  if constexpr (Coder::kHasTensorScale) {
    tensor_count = std::clamp<std::int64_t>(scopes.n / 8192, 1, kMostChunks);
    Key* keys = scratch.take<Key>(tensor_count);
    TERSOR_LAUNCH((long_keys_kernel<In, Key>), checked_grid(tensor_count, codec), kThreads, 0,
                  stream, in, scopes.n, tensor_count, keys);
    tensor_keys = keys;
  }
  KeySource<Key> source;
  source.tensor = tensor_keys;
  source.tensor_count = tensor_count;
  const auto launch_tiles = [&](std::int64_t blocks) {
    TERSOR_LAUNCH((encode_tiles_kernel<In, Coder>), checked_grid(blocks, codec), kThreads, 0,
                  stream, in, scopes, coder, source, payload);
  };
  const bool is_scattered =
      is_mean || (Coder::kHasTensorScale && plan.reach != DeviceReach::kSegment);
  switch (is_scattered ? DeviceReach::kScattered : plan.reach) {
    case DeviceReach::kSegment:
      source.thread_tiles = static_cast<unsigned>(scopes.length / 8);
      return launch_tiles(tiles);
    case DeviceReach::kRun:
      if constexpr (!Coder::kHasTensorScale)
        TERSOR_LAUNCH((encode_runs_kernel<In, Coder>),
                      checked_grid(divide_up(scopes.scopes, kWarps), codec), kThreads, 0, stream,
                      in, scopes, coder, payload);
      return;
    case DeviceReach::kLong: {
      Key* keys = scratch.take<Key>(plan.keys());
      TERSOR_LAUNCH((long_keys_kernel<In, Key>), checked_grid(plan.keys(), codec), kThreads, 0,
                    stream, in, plan.length, plan.chunks, keys);
      source.keys = keys;
      source.chunks = plan.chunks;
      source.parts = divide_up(plan.length, std::int64_t{kTile} * kWarps);
      return launch_tiles(plan.scopes * source.parts);
    }
    case DeviceReach::kChannel:
      if constexpr (!Coder::kHasTensorScale && Coder::kHasChannels) {
        const std::int64_t columns = divide_up(scopes.hidden, kChannelTile);
        const std::int64_t rows = scopes.n / scopes.hidden;
        const std::int64_t parts = divide_up(rows, 64);
        Key* keys = scratch.take<Key>(plan.keys());
        TERSOR_LAUNCH((channel_keys_kernel<In, Key>), checked_grid(columns * plan.chunks, codec),
                      kThreads, 0, stream, in, rows, scopes.hidden, plan.chunks, keys);
        TERSOR_LAUNCH((encode_channels_kernel<In, Coder>), checked_grid(columns * parts, codec),
                      kThreads, 0, stream, in, scopes, coder, plan.chunks, parts, keys, payload);
      }
      return;
    case DeviceReach::kScattered: {
      Key* keys = scratch.take<Key>(scopes.scopes);
      source.keys = keys;
      if constexpr (Coder::kHasMeans) {
        if (is_mean) {
          launch_means<In>(in, scopes, keys, scratch, stream, codec);
          return launch_tiles(tiles);
        }
      }
      const std::int64_t per_block = scopes.kind == Scopes::kChannels ? kThreads : kWarps;
      TERSOR_LAUNCH((scattered_keys_kernel<In, Key>),
                    checked_grid(divide_up(scopes.scopes, per_block), codec), kThreads, 0, stream,
                    in, scopes, keys);
      return launch_tiles(tiles);
    }
  }
}

/// Encodes a tensor that has elements, with feedback where that has values; `codec` is for
/// messages.
template <class Coder>
void launch_encode(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
                   const Coder& coder, bool is_mean, std::byte* payload, const Context& context,
                   const char* codec) {
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    launch_encode_typed<In>(tensor, in.shape, grid, coder, is_mean, payload, context, codec);
  });
}

template <class Coder>
void launch_decode(std::span<const std::span<const std::byte>> all, const Shape& shape,
                   const ScopeGrid& grid, const Coder& coder, const DecodeTarget& target,
                   const Context& context, const char* codec) {
  const Scopes scopes = device_scopes(grid, shape);
  const FeedbackArrays feedback(target.feedback);
  for_each_batch(all, target.is_accumulated, [&](const Payloads& payloads, bool is_accumulated) {
    if (!target.feedback.empty())
      return TERSOR_LAUNCH(decode_feedback_kernel<Coder>, blocks_of_tiles(scopes.n, codec),
                           kThreads, 0, context.stream, payloads, feedback, scopes, coder,
                           is_accumulated, static_cast<float*>(target.data));
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH((decode_kernel<Out, Coder>), blocks_of_tiles(scopes.n, codec), kThreads, 0,
                    context.stream, payloads, scopes, coder, is_accumulated,
                    static_cast<typename Out::Storage*>(target.data));
    });
  });
}

}  // namespace tersor::compressors::device
