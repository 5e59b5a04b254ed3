// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common/philox.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/device/encode_sources.cuh"
#include "compressors/device/scaled_scopes.cuh"

/// Codes of 1 to 8 bits and their way through shared memory (scaled.cuh).
namespace tersor::compressors::device {

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

/// Codes of the lane's thread_tile. `scale_at(i)` gives the scale of element i of the thread_tile.
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

/// Adds what the codes of the lane's thread tile decode to; nothing where there is no feedback.
/// `step_at(i)` gives the step of element i of the thread_tile.
template <class In, class Coder, class StepAt>
__device__ __forceinline__ void add_decoded(const Coder& coder, std::uint64_t packed,
                                            StepAt step_at, typename Source<In>::Base& base) {
  if constexpr (Source<In>::kHasFeedback) {
    const std::uint32_t mask = (1u << coder.width) - 1;
    const auto low = static_cast<std::uint32_t>(packed);
    const auto high = static_cast<std::uint32_t>(packed >> 4 * coder.width);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t code = (i < 4 ? low : high) >> coder.width * (i % 4) & mask;
      base.values[i] = __fadd_rn(base.values[i], coder.value(code, step_at(i)));
    }
  }
}

/// Calls visit(x, base, at, left) for the lane's thread tile of each sub-tile of a tile with
/// `count` elements (more than 1,024 count as 1,024): `at` is its place in the tile, `left` the
/// elements from there on, which may be none. The next thread tile is loaded before this one is
/// visited; where there is a state too, a thread tile of both is as much on its way, and two would
/// spill registers.
template <class In, class Visit>
__device__ __forceinline__ void for_each_thread_tile(typename Source<In>::Tensor in,
                                                     std::int64_t count, Visit visit) {
  using From = Source<In>;
  const unsigned thread_tile = thread_tile_of_lane<From::kIsPaired>(lane_of_thread());
  const auto alignment = From::alignment(in);
  float x[8];
  typename From::Base base;
  if constexpr (From::kHasFeedback) {
#pragma unroll 1
    for (unsigned first = 0; first < kTile && first < count; first += kSubtile) {
      From::load(in + first, count - first, alignment, x, base);
      const unsigned at = first + 8 * thread_tile;
      visit(x, base, at, count - at);
    }
  } else {
    From::load(in, count, alignment, x, base);
#pragma unroll 1  // kernels of four times the code compile for minutes
    for (unsigned first = 0; first < kTile; first += kSubtile) {
      float next[8];
      const bool has_next = first + kSubtile < kTile && first + kSubtile < count;
      if (has_next)
        From::load(in + first + kSubtile, count - first - kSubtile, alignment, next, base);
      const unsigned at = first + 8 * thread_tile;
      visit(x, base, at, count - at);
      if (!has_next) return;
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = next[i];
    }
  }
}

/// Encodes a tile of `count` elements (more than 1,024 count as 1,024) from flat index `first`, a
/// multiple of 8. `encode(x, base, element, left)` gives the codes of a thread tile and adds what
/// they decode to; all lanes call it.
template <class In, class Coder, class Encode>
__device__ __forceinline__ void write_tile(const Coder& coder, const Stage& stage,
                                           typename Source<In>::Tensor in, std::int64_t first,
                                           std::int64_t count, std::byte* payload, Encode encode) {
  using From = Source<In>;
  std::byte* to = payload + coder.metadata_bytes + first / 8 * coder.width;
  const unsigned skew = Stage::skew_of(to);
  for_each_thread_tile<In>(
      in, count, [&](const float* x, typename From::Base& base, unsigned at, std::int64_t left) {
        std::uint64_t packed = encode(x, base, first + at, left);
        const unsigned subtile = at / kSubtile * kSubtile;
        From::store(in + subtile, count - subtile, From::alignment(in), base);
        if (left <= 0) return;
        if (left < 8) packed &= (std::uint64_t{1} << coder.width * left) - 1;
        stage.put(skew + at / 8 * coder.width, coder.width, packed);
      });
  __syncwarp();
  const std::int64_t bits = (count < kTile ? count : kTile) * coder.width;
  stage.flush(to, static_cast<unsigned>((bits + 7) / 8));
  __syncwarp();
}

}  // namespace tersor::compressors::device
