// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common/philox.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/api/device_plan.hpp"
#include "compressors/api/octets.cuh"

/// Kernels of codecs that send codes of 1 to 8 bits and something per scope (`quantize`, `minmax`,
/// `fp8`, `mx`, `nvfp4`). What differs between them is a Coder, a struct of values that travels to
/// the kernel:
///
///   using Key                          what a scope is reduced to: MagnitudeKey, RangeKey
///   using Scale, Step                  what encoding and decoding need of a scope
///   int width                          bits of a code
///   Rounding rounding                  the draws of stochastic rounding
///   std::int64_t metadata_bytes        what stands before the codes
///   Scale scale_of(Key, float tensor)
///   void write(std::byte* payload, std::int64_t scope, std::int64_t scopes, Key, Scale)
///   std::uint32_t code(float x, Scale), code_drawn(float x, Scale, std::int32_t draw)
///   Step step_of(const std::byte* payload, std::int64_t scope, std::int64_t scopes)
///   float value(std::uint32_t code, Step)
///   static constexpr bool kHasChannels, kHasMeans      whether channels and means are ever asked
///   for static constexpr bool kHasTensorScale   if so, `tensor` is what tensor_of made of the
///   tensor's
///     key and write_tensor wrote; else 0
///
/// Nothing depends on the grid: keys merge in any order, and all else is per element.
namespace tersor::compressors::device {

// ---- what a scope is reduced to

/// The largest finite magnitude, as bits.
struct MagnitudeKey {
  std::uint32_t bits = 0;
  __device__ __forceinline__ void take(float x) {
    const std::uint32_t magnitude = magnitude_bits(x);
    merge({magnitude < 0x7F800000u ? magnitude : 0u});
  }
  __device__ __forceinline__ void merge(MagnitudeKey other) {
    bits = bits > other.bits ? bits : other.bits;
  }
  __device__ __forceinline__ void merge_lanes(int distance) {
    merge({__shfl_xor_sync(kAllLanes, bits, distance)});
  }
};

/// Smallest and largest finite value, -0 as +0, as integers in the order of the values.
struct RangeKey {
  std::uint32_t low = 0xFFFFFFFFu;
  std::uint32_t high = 0;
  __device__ __forceinline__ void take(float x) {
    if (!is_finite(x)) return;
    const std::uint32_t bits = bits_of(__fadd_rn(x, 0.0f));
    const std::uint32_t key = bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFu : 0x80000000u);
    merge({key, key});
  }
  __device__ __forceinline__ void merge(RangeKey other) {
    low = low < other.low ? low : other.low;
    high = high > other.high ? high : other.high;
  }
  __device__ __forceinline__ void merge_lanes(int distance) {
    merge({__shfl_xor_sync(kAllLanes, low, distance), __shfl_xor_sync(kAllLanes, high, distance)});
  }
  __device__ __forceinline__ bool is_empty() const { return low > high; }
  __device__ __forceinline__ static float value(std::uint32_t key) {
    return float_of(key ^ ((key >> 31) != 0 ? 0x80000000u : 0xFFFFFFFFu));
  }
};

template <class Key>
__device__ __forceinline__ void merge_warp(Key& key) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) key.merge_lanes(distance);
}

/// Every thread of the block gets the merged key.
template <class Key>
__device__ __forceinline__ void merge_block(Key& key) {
  TERSOR_SHARED_ARRAY(std::uint32_t, words, kWarps * 2);  // a Key has at most two words
  auto* of_warp = reinterpret_cast<Key*>(words);
  merge_warp(key);
  if (lane_of_thread() == 0) of_warp[warp_of_thread()] = key;
  __syncthreads();
  key = of_warp[0];
  for (int warp = 1; warp < kWarps; ++warp) key.merge(of_warp[warp]);
  __syncthreads();
}

/// Octet `x` of which `left` elements are there.
template <class Key>
__device__ __forceinline__ void take_octet(Key& key, const float* x, std::int64_t left) {
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (i < left) key.take(x[i]);
}

// ---- scopes of elements

struct Scopes {
  enum Kind : std::uint8_t { kRuns, kChannels, kGroups };
  std::int64_t n = 0;
  std::int64_t scopes = 0;
  std::int64_t length = 0;   ///< kRuns
  std::int64_t hidden = 0;   ///< kChannels, kGroups
  std::int64_t group = 0;    ///< kGroups
  std::int64_t per_row = 0;  ///< kGroups
  Kind kind = kRuns;
  bool is_octet_in_one = false;       ///< no octet has elements of two scopes
  bool is_octet_consecutive = false;  ///< an octet has elements of eight consecutive channels

  __device__ __forceinline__ std::int64_t of(std::int64_t i) const {
    switch (kind) {
      case kRuns: return divide(i, length);
      case kChannels: return i - divide(i, hidden) * hidden;
      case kGroups: break;
    }
    const std::int64_t row = divide(i, hidden);
    return row * per_row + divide(i - row * hidden, group);
  }
  /// i / by; 64-bit divisions take four times as long.
  __device__ __forceinline__ std::int64_t divide(std::int64_t i, std::int64_t by) const {
    return n <= 0xFFFFFFFFll ? static_cast<std::int64_t>(static_cast<std::uint32_t>(i) /
                                                         static_cast<std::uint32_t>(by))
                             : i / by;
  }
  /// First element, elements and distance of a scope.
  __device__ __forceinline__ ScopeSlice slice(std::int64_t scope) const {
    if (kind == kRuns) return {scope * length, length, 1};
    if (kind == kChannels) return {scope, n / hidden, hidden};
    const std::int64_t column = scope % per_row * group;
    const std::int64_t rest = hidden - column;
    return {scope / per_row * hidden + column, rest < group ? rest : group, 1};
  }
};

inline Scopes device_scopes(const ScopeGrid& grid, const Shape& shape) {
  Scopes scopes;
  scopes.n = shape.elements();
  scopes.scopes = grid.count();
  scopes.length = grid.longest();
  scopes.hidden = shape.hidden;
  scopes.group = grid.group();
  scopes.per_row = divide_up(shape.hidden, grid.group());
  if (!grid.is_contiguous())
    scopes.kind = Scopes::kChannels;
  else if (scopes.scopes * scopes.length != scopes.n)
    scopes.kind = Scopes::kGroups;
  const bool is_run = scopes.kind == Scopes::kRuns;
  const bool is_whole = shape.hidden % 8 == 0 && scopes.group % 8 == 0;
  scopes.is_octet_in_one = is_run ? scopes.length % 8 == 0 || scopes.scopes == 1
                                  : scopes.kind == Scopes::kGroups && is_whole;
  scopes.is_octet_consecutive = scopes.kind == Scopes::kChannels && shape.hidden % 8 == 0;
  return scopes;
}

// ---- codes and their way through shared memory

/// Draws of stochastic rounding: element i takes draw16(first + i).
struct Rounding {
  bool is_stochastic = false;
  std::uint64_t first = 0;
  Stream stream;

  /// Of eight elements from `element`, in pairs.
  __device__ __forceinline__ void fill(std::int64_t element, std::uint32_t* pairs) const {
    const std::uint64_t at = first + static_cast<std::uint64_t>(element);
    if (at % 8 == 0) {
      const auto words = stream.block(static_cast<std::uint32_t>(at / 8));
#pragma unroll
      for (int i = 0; i < 4; ++i) pairs[i] = words[i];
      return;
    }
    std::uint64_t halves[2] = {0, 0};
#pragma unroll 1  // a chunk of an odd size: correct rather than fast
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t draw = draw_of(at + i);
      if (i < 4)
        halves[0] |= draw << 16 * i;
      else
        halves[1] |= draw << 16 * (i - 4);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pairs[i] = static_cast<std::uint32_t>(halves[i / 2] >> 32 * (i % 2));
  }

  __device__ __forceinline__ std::int32_t draw(std::int64_t element) const {
    return static_cast<std::int32_t>(draw_of(first + static_cast<std::uint64_t>(element)));
  }

 private:
  __device__ __forceinline__ std::uint32_t draw_of(std::uint64_t at) const {
    const auto words = stream.block(static_cast<std::uint32_t>(at / 8));
    const std::uint32_t low = at % 8 < 2 ? words[0] : words[1];
    const std::uint32_t high = at % 8 < 6 ? words[2] : words[3];
    return (at % 8 < 4 ? low : high) >> 16 * (at % 2) & 0xFFFFu;
  }
};

/// The draws of a message (METHODS section 1, "RNG").
inline Rounding rounding_of(const Context& context, bool is_stochastic) {
  const Purpose purpose = context.second_round ? Purpose::kSecondRounding : Purpose::kRounding;
  Rounding rounding;
  rounding.is_stochastic = is_stochastic;
  rounding.stream = context.random(purpose, true);
  rounding.first = static_cast<std::uint64_t>(context.element_offset);
  return rounding;
}

/// A tile of codes of one warp: 1,024 bytes and the distance of the payload from 16 bytes.
struct Stage {
  static constexpr int kWords = kTile / 16 + 1;
  unsigned char* bytes;

  __device__ __forceinline__ static unsigned skew_of(const std::byte* payload) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(payload) % 16);
  }
  __device__ __forceinline__ void put(unsigned at, int width, std::uint64_t packed) const {
    if (width == 8 && at % 8 == 0) {
      store_vector(
          reinterpret_cast<uint2*>(bytes + at),
          make_uint2(static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)));
    } else if (width == 4 && at % 4 == 0) {
      *reinterpret_cast<std::uint32_t*>(bytes + at) = static_cast<std::uint32_t>(packed);
    } else {
      for (int i = 0; i < width; ++i) bytes[at + i] = static_cast<unsigned char>(packed >> 8 * i);
    }
  }
  /// Bytes skew .. skew + count - 1 to the payload, of which each byte is written by this warp.
  __device__ __forceinline__ void flush(std::byte* payload, unsigned count) const {
    const unsigned skew = skew_of(payload);
    std::byte* base = payload - skew;
    for_each_part(
        skew, count,
        [&](unsigned word) {
          store_vector(reinterpret_cast<uint4*>(base) + word,
                       load_vector(reinterpret_cast<const uint4*>(bytes) + word));
        },
        [&](unsigned at) { base[at] = static_cast<std::byte>(bytes[at]); });
  }

 private:
  template <class Word, class Byte>
  __device__ __forceinline__ static void for_each_part(unsigned skew, unsigned count, Word word,
                                                       Byte byte) {
    const unsigned end = skew + count;
    const unsigned first_word = skew > 0 ? 1 : 0;
    const unsigned last_word = end / 16;  // one past the last whole word
    for (unsigned w = first_word + lane_of_thread(); w < last_word; w += 32) word(w);
    const unsigned head_end = end < 16 ? end : 16;
    if (skew > 0) {
      const unsigned at = skew + lane_of_thread();
      if (at < head_end) byte(at);
    }
    const unsigned tail = last_word > first_word ? 16 * last_word : 16 * first_word;
    const unsigned at = tail + lane_of_thread();
    if (at < end) byte(at);
  }
};

/// The warp's part of the block's stage.
#define TERSOR_STAGE(name)                                                                  \
  TERSOR_SHARED_ARRAY(                                                                      \
      uint4, name##_words,                                                                  \
      ::tersor::compressors::device::kWarps* ::tersor::compressors::device::Stage::kWords); \
  const ::tersor::compressors::device::Stage name {                                         \
    reinterpret_cast<unsigned char*>(name##_words +                                         \
                                     ::tersor::compressors::device::warp_of_thread() *      \
                                         ::tersor::compressors::device::Stage::kWords)      \
  }

/// Codes of the lane's octet. `scale_at(i)` gives the scale of element i of the octet.
template <class Coder, class ScaleAt>
__device__ __forceinline__ std::uint64_t codes_of(const Coder& coder, const float* x,
                                                  std::int64_t element, ScaleAt scale_at) {
  std::uint32_t half[2] = {0, 0};  // four codes have at most 32 bits
  if (coder.rounding.is_stochastic) {
    std::uint32_t pairs[4];
    coder.rounding.fill(element, pairs);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto draw = static_cast<std::int32_t>(pairs[i / 2] >> 16 * (i % 2) & 0xFFFFu);
      half[i / 4] |= coder.code_drawn(x[i], scale_at(i), draw) << coder.width * (i % 4);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      half[i / 4] |= coder.code(x[i], scale_at(i)) << coder.width * (i % 4);
  }
  return half[0] | static_cast<std::uint64_t>(half[1]) << 4 * coder.width;
}

/// Calls visit(x, at, left) for the lane's octet of each sub-tile of a tile with `count` elements
/// (more than 1,024 count as 1,024): `at` is its place in the tile, `left` the elements from there
/// on, which may be none. The next octet is loaded before this one is visited.
template <class In, class Visit>
__device__ __forceinline__ void for_each_octet(const typename In::Storage* in, std::int64_t count,
                                               Visit visit) {
  const unsigned octet = octet_of_lane<kIsPaired<In>>(lane_of_thread());
  const bool is_aligned = is_aligned_16(in);
  float x[8];
  load_octet<In>(in, count, is_aligned, x);
#pragma unroll 1  // kernels of four times the code compile for minutes
  for (unsigned first = 0; first < kTile; first += kSubtile) {
    float next[8];
    const bool has_next = first + kSubtile < kTile && first + kSubtile < count;
    if (has_next) load_octet<In>(in + first + kSubtile, count - first - kSubtile, is_aligned, next);
    const unsigned at = first + 8 * octet;
    visit(x, at, count - at);
    if (!has_next) return;
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = next[i];
  }
}

/// Encodes a tile of `count` elements (more than 1,024 count as 1,024) from flat index `first`, a
/// multiple of 8. `encode(x, element, left)` gives the codes of an octet; all lanes call it.
template <class In, class Coder, class Encode>
__device__ __forceinline__ void write_tile(const Coder& coder, const Stage& stage,
                                           const typename In::Storage* in, std::int64_t first,
                                           std::int64_t count, std::byte* payload, Encode encode) {
  std::byte* to = payload + coder.metadata_bytes + first / 8 * coder.width;
  const unsigned skew = Stage::skew_of(to);
  for_each_octet<In>(in, count, [&](const float* x, unsigned at, std::int64_t left) {
    std::uint64_t packed = encode(x, first + at, left);
    if (left <= 0) return;
    if (left < 8) packed &= (std::uint64_t{1} << coder.width * left) - 1;
    stage.put(skew + at / 8 * coder.width, coder.width, packed);
  });
  __syncwarp();
  const std::int64_t bits = (count < kTile ? count : kTile) * coder.width;
  stage.flush(to, static_cast<unsigned>((bits + 7) / 8));
  __syncwarp();
}

// ---- encoding

/// Codes of an octet with elements of several scopes, one by one: correct rather than fast.
template <class In, class Coder>
__device__ __forceinline__ std::uint64_t scattered_codes(const Coder& coder,
                                                         const typename In::Storage* in,
                                                         const Scopes& scopes,
                                                         const typename Coder::Key* keys,
                                                         float tensor, std::int64_t element) {
  std::uint64_t packed = 0;
#pragma unroll 1
  for (int i = 0; i < 8 && element + i < scopes.n; ++i) {
    const auto scale = coder.scale_of(keys[scopes.of(element + i)], tensor);
    const float x = In::widen(in[element + i]);
    const std::uint64_t code = coder.rounding.is_stochastic
                                   ? coder.code_drawn(x, scale, coder.rounding.draw(element + i))
                                   : coder.code(x, scale);
    packed |= code << coder.width * i;
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
  unsigned octets = 0;          ///< > 0: kSegment, scopes of so many octets, merged over lanes
  std::int64_t chunks = 0;      ///< > 0: kLong, so many partial keys a run in `keys`
  std::int64_t parts = 0;       ///< kLong: blocks of a run
  const Key* keys = nullptr;    ///< else a key per scope
  const Key* tensor = nullptr;  ///< partial keys of the tensor, for coders that have its scale
  std::int64_t tensor_count = 0;
};

/// kSegment (the one launch), kLong and kScattered (the second): a warp takes a tile.
template <class In, class Coder>
__global__ void __launch_bounds__(kThreads, kEncodingBlocks)
    encode_tiles_kernel(const typename In::Storage* in, Scopes scopes,
                        const __grid_constant__ Coder coder,
                        const __grid_constant__ KeySource<typename Coder::Key> source,
                        std::byte* payload) {
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
  const bool is_scattered = source.keys != nullptr && source.chunks == 0 && !scopes.is_octet_in_one;
  write_tile<In>(coder, stage, in + first, first, count, payload,
                 [&](const float* x, std::int64_t element, std::int64_t left) {
                   if (is_scattered)
                     return scattered_codes<In>(coder, in, scopes, source.keys, tensor, element);
                   Key key = of_block;
                   if (source.octets > 0) {
                     if (left > 0) take_octet(key, x, 8);
#pragma unroll
                     for (int bit = 0; bit < 5; ++bit)
                       if (1u << bit < source.octets)
                         key.merge_lanes(lane_distance<kIsPaired<In>>(bit));
                   } else if (source.chunks == 0 && left > 0) {
                     key = source.keys[scopes.of(element)];
                   }
                   const typename Coder::Scale scale = coder.scale_of(key, tensor);
                   if (source.octets > 0 && left > 0) {
                     const std::int64_t scope = scopes.divide(element, scopes.length);
                     if (element == scope * scopes.length)
                       coder.write(payload, scope, scopes.scopes, key, scale);
                   }
                   return codes_of(coder, x, element, [&](int) { return scale; });
                 });
}

/// DeviceReach::kRun: a warp per scope, one launch. The run is read twice, the second time from a
/// cache.
template <class In, class Coder>
__global__ void __launch_bounds__(kThreads, kEncodingBlocks)
    encode_runs_kernel(const typename In::Storage* in, Scopes scopes,
                       const __grid_constant__ Coder coder, std::byte* payload) {
  TERSOR_STAGE(stage);
  const std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (scope >= scopes.scopes) return;
  const std::int64_t begin = scope * scopes.length;
  typename Coder::Key key;
  for (std::int64_t tile = 0; tile < scopes.length; tile += kTile)
    for_each_octet<In>(
        in + begin + tile, scopes.length - tile,
        [&](const float* x, unsigned, std::int64_t left) { take_octet(key, x, left); });
  merge_warp(key);
  const typename Coder::Scale scale = coder.scale_of(key, 0.0f);
  if (lane_of_thread() == 0) coder.write(payload, scope, scopes.scopes, key, scale);
  for (std::int64_t tile = 0; tile < scopes.length; tile += kTile)
    write_tile<In>(coder, stage, in + begin + tile, begin + tile, scopes.length - tile, payload,
                   [&](const float* x, std::int64_t element, std::int64_t) {
                     return codes_of(coder, x, element, [&](int) { return scale; });
                   });
}

/// DeviceReach::kLong, first launch: block (chunk, run) reduces its tiles of the run.
template <class In, class Key>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    long_keys_kernel(const typename In::Storage* in, std::int64_t length, std::int64_t chunks,
                     Key* keys) {
  const std::int64_t run = blockIdx.x / chunks;
  const std::int64_t chunk = blockIdx.x - run * chunks;
  Key key;
  for (std::int64_t tile = (chunk * kWarps + warp_of_thread()) * kTile; tile < length;
       tile += chunks * kWarps * kTile)
    for_each_octet<In>(
        in + run * length + tile, length - tile,
        [&](const float* x, unsigned, std::int64_t left) { take_octet(key, x, left); });
  merge_block(key);
  if (threadIdx.x == 0) keys[blockIdx.x] = key;
}

/// DeviceReach::kChannel, first launch: block (tile of 256 columns, chunk of rows). A warp takes
/// every eighth row of the chunk, a lane eight columns of it.
template <class In, class Key>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    channel_keys_kernel(const typename In::Storage* in, std::int64_t rows, std::int64_t hidden,
                        std::int64_t chunks, Key* keys) {
  TERSOR_SHARED_ARRAY(std::uint32_t, words, kWarps * kChannelTile * sizeof(Key) / 4);
  auto* shared = reinterpret_cast<Key*>(words);
  const std::int64_t tile = blockIdx.x / chunks;
  const std::int64_t chunk = blockIdx.x - tile * chunks;
  const std::int64_t columns = hidden - tile * kChannelTile;
  const unsigned first = 8 * octet_of_lane<kIsPaired<In>>(lane_of_thread());
  const std::int64_t per_chunk = (rows + chunks - 1) / chunks;
  const std::int64_t end = (chunk + 1) * per_chunk < rows ? (chunk + 1) * per_chunk : rows;
  Key key[8];
  for (std::int64_t row = chunk * per_chunk + warp_of_thread(); row < end; row += kWarps) {
    const typename In::Storage* from = in + row * hidden + tile * kChannelTile;
    float x[8];
    load_octet<In>(from, columns, is_aligned_16(from), x);
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
    encode_channels_kernel(const typename In::Storage* in, Scopes scopes,
                           const __grid_constant__ Coder coder, std::int64_t chunks,
                           std::int64_t parts, const typename Coder::Key* keys,
                           std::byte* payload) {
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
  const unsigned first = 8 * octet_of_lane<kIsPaired<In>>(lane_of_thread());
  typename Coder::Scale scale[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) scale[i] = coder.scale_of(shared[first + i], 0.0f);
  const std::int64_t per_part = (rows + parts - 1) / parts;
  const std::int64_t end = (part + 1) * per_part < rows ? (part + 1) * per_part : rows;
  const unsigned count = columns < kChannelTile ? static_cast<unsigned>(columns) : kChannelTile;
  for (std::int64_t row = part * per_part + warp_of_thread(); row < end; row += kWarps) {
    const std::int64_t element = row * hidden + tile * kChannelTile;
    float x[8];
    load_octet<In>(in + element, columns, is_aligned_16(in + element), x);
    std::byte* to = payload + coder.metadata_bytes + element / 8 * coder.width;
    const unsigned skew = Stage::skew_of(to);
    if (first < count)
      stage.put(skew + first / 8 * coder.width, coder.width,
                codes_of(coder, x, element + first, [&](int i) { return scale[i]; }));
    __syncwarp();
    stage.flush(to, count / 8 * coder.width);
    __syncwarp();
  }
}

/// DeviceReach::kScattered, first launch: a warp per scope, or a thread per channel.
template <class In, class Key>
__global__ void __launch_bounds__(kThreads)
    scattered_keys_kernel(const typename In::Storage* in, Scopes scopes, Key* keys) {
  Key key;
  if (scopes.kind == Scopes::kChannels) {
    const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (channel >= scopes.scopes) return;
    for (std::int64_t i = channel; i < scopes.n; i += scopes.hidden) key.take(In::widen(in[i]));
    keys[channel] = key;
    return;
  }
  const std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (scope >= scopes.scopes) return;
  const ScopeSlice slice = scopes.slice(scope);
  for (std::int64_t i = lane_of_thread(); i < slice.length; i += 32)
    key.take(In::widen(in[slice.begin + i]));
  merge_warp(key);
  if (lane_of_thread() == 0) keys[scope] = key;
}

// ---- the fixed tree (METHODS section 1): mean of x^2 or |x| of each scope

constexpr int kTreeBlock = 4096;

template <class In, bool kSquares>
__device__ __forceinline__ float tree_term(typename In::Storage stored) {
  const float x = finite_or_zero(In::widen(stored));
  return kSquares ? __fmul_rn(x, x) : float_of(magnitude_bits(x));
}

/// Sums of the blocks of contiguous scopes: warp (scope, block) leaves sums[scope * blocks +
/// block].
template <class In, bool kSquares>
__global__ void __launch_bounds__(kThreads)
    tree_runs_kernel(const typename In::Storage* in, Scopes scopes, std::int64_t blocks,
                     float* sums) {
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  const std::int64_t scope = warp / blocks;
  if (scope >= scopes.scopes) return;
  const ScopeSlice slice = scopes.slice(scope);
  const std::int64_t begin = (warp - scope * blocks) * kTreeBlock;
  const std::int64_t end = begin + kTreeBlock < slice.length ? begin + kTreeBlock : slice.length;
  float sum = 0.0f;
  for (std::int64_t i = begin + lane_of_thread(); i < end; i += 32)
    sum = __fadd_rn(sum, tree_term<In, kSquares>(in[slice.begin + i]));
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
    sum = __fadd_rn(sum, __shfl_down_sync(kAllLanes, sum, half));
  if (lane_of_thread() == 0) sums[warp] = sum;
}

/// The same of channels: block (32 columns, block of rows), thread (column, lane).
template <class In, bool kSquares>
__global__ void __launch_bounds__(1024)
    tree_channels_kernel(const typename In::Storage* in, Scopes scopes, std::int64_t blocks,
                         float* sums) {
  TERSOR_SHARED_ARRAY(float, lanes, 32 * 32);
  const std::int64_t tile = blockIdx.x / blocks;
  const std::int64_t block = blockIdx.x - tile * blocks;
  const std::int64_t channel = tile * 32 + threadIdx.x % 32;
  const unsigned lane = threadIdx.x / 32;
  const std::int64_t rows = scopes.n / scopes.hidden;
  const std::int64_t end = (block + 1) * kTreeBlock < rows ? (block + 1) * kTreeBlock : rows;
  float sum = 0.0f;
  if (channel < scopes.hidden)
    for (std::int64_t row = block * kTreeBlock + lane; row < end; row += 32)
      sum = __fadd_rn(sum, tree_term<In, kSquares>(in[row * scopes.hidden + channel]));
  lanes[threadIdx.x] = sum;
  for (unsigned half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half)
      lanes[threadIdx.x] = __fadd_rn(lanes[threadIdx.x], lanes[threadIdx.x + half * 32]);
  }
  if (lane == 0 && channel < scopes.hidden) sums[channel * blocks + block] = lanes[threadIdx.x];
}

/// The sum of a scope from those of its blocks, by halves, in place; all lanes call it.
__device__ __forceinline__ float fold_blocks(float* sums, std::int64_t blocks) {
  std::int64_t half = 1;
  while (half < blocks) half *= 2;
  std::int64_t left = blocks;
  for (half /= 2; half > 0; half /= 2) {
    for (std::int64_t i = lane_of_thread(); i + half < left; i += 32)
      sums[i] = __fadd_rn(sums[i], sums[i + half]);
    left = left < half ? left : half;
    __syncwarp();
  }
  return sums[0];
}

/// Folds the block sums of each scope and divides: a warp per scope.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    tree_means_kernel(Scopes scopes, std::int64_t blocks, float* sums, Key* means) {
  const std::int64_t scope = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (scope >= scopes.scopes) return;
  const float sum = fold_blocks(sums + scope * blocks, blocks);
  if (lane_of_thread() > 0) return;
  const auto length = static_cast<float>(scopes.slice(scope).length);
  means[scope] = Key{bits_of(__fdiv_rn(sum, length))};
}

// ---- decoding

/// The lane's octet of codes: `bytes` of them at any address. Neighbouring lanes read neighbouring
/// bytes, so that a warp asks for whole sectors.
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

/// The same for an octet with elements of several scopes, one by one: correct rather than fast.
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
  const unsigned octet = octet_of_lane<kIsPaired<Out>>(lane_of_thread());
  const std::uint32_t mask = (1u << coder.width) - 1;
  const bool is_scattered = !scopes.is_octet_in_one && !scopes.is_octet_consecutive;
#pragma unroll 1
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t first = tile + j * kSubtile;
    if (first >= scopes.n) return;
    const std::int64_t element = first + 8 * octet;
    const std::int64_t left = scopes.n - element;
    if (is_scattered) {
      decode_scattered<Out>(payloads, scopes, coder, is_accumulated, element, out);
      continue;
    }
    const int bytes = left >= 8 ? coder.width : static_cast<int>((left * coder.width + 7) / 8);
    const std::int64_t scope = left > 0 ? scopes.of(element) : 0;
    float sum[8];
    if (is_accumulated) load_octet<Out>(out + first, scopes.n - first, is_aligned_16(out), sum);
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
        if (i > 0 && scopes.is_octet_consecutive)
          step = coder.step_of(payload, scope + i, scopes.scopes);
        const float value = coder.value((i < 4 ? low : high) >> coder.width * (i % 4) & mask, step);
        sum[i] = is_first ? value : __fadd_rn(sum[i], value);
      }
    }
    store_octet<Out>(out + first, scopes.n - first, is_aligned_16(out), sum);
  }
}

// ---- launching

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
void launch_means(const typename In::Storage* in, const Scopes& scopes, Key* keys,
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
void launch_encode_typed(const TensorView& view, const ScopeGrid& grid, const Coder& coder,
                         bool is_mean, std::byte* payload, const Context& context,
                         const char* codec) {
  using Key = typename Coder::Key;
  const auto* in = static_cast<const typename In::Storage*>(view.data);
  const DevicePlan plan = device_plan(grid, view.shape);
  const Scopes scopes = device_scopes(grid, view.shape);
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
      source.octets = static_cast<unsigned>(scopes.length / 8);
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

/// Encodes a tensor that has elements; `codec` is for messages.
template <class Coder>
void launch_encode(const TensorView& in, const ScopeGrid& grid, const Coder& coder, bool is_mean,
                   std::byte* payload, const Context& context, const char* codec) {
  with_type(in.dtype, [&]<class In>(In) {
    launch_encode_typed<In>(in, grid, coder, is_mean, payload, context, codec);
  });
}

template <class Coder>
void launch_decode(std::span<const std::span<const std::byte>> all, const Shape& shape,
                   const ScopeGrid& grid, const Coder& coder, const DecodeTarget& target,
                   const Context& context, const char* codec) {
  const Scopes scopes = device_scopes(grid, shape);
  for_each_batch(all, target.is_accumulated, [&](const Payloads& payloads, bool is_accumulated) {
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH((decode_kernel<Out, Coder>), blocks_of_tiles(scopes.n, codec), kThreads, 0,
                    context.stream, payloads, scopes, coder, is_accumulated,
                    static_cast<typename Out::Storage*>(target.data));
    });
  });
}

}  // namespace tersor::compressors::device
