// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/encode_sources.cuh"
#include "compressors/device/sparse_plan.hpp"

/// Where the keys of a selection (select.cuh) come from. load(): the lane's thread tile of the
/// sub-tile (tiles.cuh) at element `first` of the scope as raw words, 0 behind its end. send():
/// what the payload gets for the thread tile of which `flags` are chosen, called once for each
/// sub-tile, by the whole warp; with kHasFeedback without those that are dropped as ties.
namespace tersor::compressors::device {

template <class T>
struct TensorSource {
  using Type = T;
  static constexpr bool kPaired = kIsPaired<T>;
  static constexpr bool kIsSampled = true;
  static constexpr bool kHasValues = true;
  static constexpr bool kHasFeedback = false;
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
    load_thread_tile<T>(from, scope.length - first, is_aligned_16(from), x);
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

/// A tensor and a wrapper's feedback (encode_sources.cuh), which send() rewrites.
template <class T>
struct FeedbackSource {
  using Type = T;
  using From = Source<WithFeedback<T>>;
  static constexpr bool kPaired = From::kIsPaired;
  static constexpr bool kIsSampled = true;
  static constexpr bool kHasValues = true;
  static constexpr bool kHasFeedback = true;
  static constexpr int kWritingBlocks = kEncodingBlocks;
  static constexpr int kKeyBits = TensorSource<T>::kKeyBits;
  static constexpr int kZeroBits = TensorSource<T>::kZeroBits;
  static constexpr int kDigits = TensorSource<T>::kDigits;

  FeedbackTensor<T> in;

  __device__ __forceinline__ void load(const SparseScope& scope, std::int64_t first,
                                       std::uint32_t* raw) const {
    float x[8];
    typename From::Base base;
    load_thread_tiles(scope, first, x, base);
#pragma unroll
    for (int i = 0; i < 8; ++i) raw[i] = bits_of(x[i]);
  }
  __device__ __forceinline__ std::uint32_t load_one(const SparseScope& scope,
                                                    std::int64_t i) const {
    return magnitude_key(From::at(in, scope.begin + i));
  }
  static __device__ __forceinline__ std::uint32_t key(std::uint32_t raw) {
    return raw & 0x7FFFFFFFu;
  }
  /// Reads the thread tiles again, from a cache: `raw` is rounded.
  __device__ __forceinline__ void send(const SparseScope& scope, std::int64_t first,
                                       std::uint32_t flags, const std::uint32_t*,
                                       std::uint32_t* sent) const {
    float x[8];
    typename From::Base base;
    load_thread_tiles(scope, first, x, base);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sent[i] = bits_of(x[i]);
      x[i] = (flags >> i & 1u) != 0 ? x[i] : 0.0f;
    }
    const auto from = in + (scope.begin + first);
    From::store_sum(from, scope.length - first, From::alignment(from), base, x);
  }

 private:
  __device__ __forceinline__ void load_thread_tiles(const SparseScope& scope, std::int64_t first,
                                                    float* x, typename From::Base& base) const {
    const auto from = in + (scope.begin + first);
    From::load(from, scope.length - first, From::alignment(from), x, base);
  }
};

/// Complements of 32-bit draws: the k largest are the k smallest draws.
struct DrawSource {
  static constexpr bool kPaired = false;
  static constexpr bool kIsSampled = false;
  static constexpr bool kHasValues = false;
  static constexpr bool kHasFeedback = false;
  static constexpr int kWritingBlocks = 0;
  static constexpr int kKeyBits = 32;
  static constexpr int kZeroBits = 0;
  static constexpr int kDigits = 3;

  Stream stream;
  std::uint64_t offset;

  __device__ __forceinline__ void load(const SparseScope& scope, std::int64_t first,
                                       std::uint32_t* raw) const {
    const unsigned thread_tile = 8 * lane_of_thread();
    const std::int64_t count = scope.length - first;
    const std::uint64_t draw =
        offset + static_cast<std::uint64_t>(scope.begin + first) + thread_tile;
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
      raw[i] = static_cast<std::int64_t>(thread_tile + i) < count ? ((shift & 1u) != 0 ? odd : even)
                                                                  : 0u;
    }
  }
  static __device__ __forceinline__ std::uint32_t key(std::uint32_t raw) { return raw; }
  __device__ __forceinline__ void send(const SparseScope&, std::int64_t, std::uint32_t,
                                       const std::uint32_t*, std::uint32_t*) const {}
};

}  // namespace tersor::compressors::device
