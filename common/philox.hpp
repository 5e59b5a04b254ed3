// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#if defined(__CUDACC__)
#define TERSOR_HOST_DEVICE __host__ __device__
#else
#define TERSOR_HOST_DEVICE
#endif

namespace tersor {

/// What a random stream is for: field c3 of the counter (METHODS section 1, "RNG"). Values are part
/// of the format.
enum class Purpose : std::uint32_t {
  kDropout = 0,
  kInit = 1,
  kRandK = 2,
  kRounding = 3,
  kSigns = 4,
  kDataOrder = 5,
  kSecondRounding = 6,
  kMatrix = 7
};

/// Philox4x32-10 (Salmon et al., SC'11): counter and key to four 32-bit words.
TERSOR_HOST_DEVICE constexpr std::array<std::uint32_t, 4> philox4x32(
    std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}

/// Word i < 4 of a block, picked by comparison: by address it would leave a GPU's registers.
TERSOR_HOST_DEVICE constexpr std::uint32_t pick_word(const std::array<std::uint32_t, 4>& block,
                                                     unsigned i) {
  const std::uint32_t even = (i & 2u) != 0 ? block[2] : block[0];
  const std::uint32_t odd = (i & 2u) != 0 ? block[3] : block[1];
  return (i & 1u) != 0 ? odd : even;
}

/// One stream of draws: everything of the counter but the block. The element index is the row-major
/// index in the unsharded tensor. 32-bit draws: block i/4, word i mod 4; 16-bit draws: block i/8,
/// word (i mod 8)/2, low half first.
struct Stream {
  std::array<std::uint32_t, 2> key{};  ///< seed: low word, high word
  std::uint32_t c1 = 0;                ///< step
  std::uint32_t c2 = 0;                ///< site (bits 0-15) + micro-batch call (16-31)
  std::uint32_t c3 = 0;                ///< purpose + direction << 8 + evaluation << 9 + rank << 16

  TERSOR_HOST_DEVICE constexpr std::array<std::uint32_t, 4> block(std::uint32_t index) const {
    return philox4x32({index, c1, c2, c3}, key);
  }
  TERSOR_HOST_DEVICE constexpr std::uint32_t draw32(std::uint64_t i) const {
    return pick_word(block(static_cast<std::uint32_t>(i / 4)), static_cast<unsigned>(i % 4));
  }
  TERSOR_HOST_DEVICE constexpr std::uint32_t draw16(std::uint64_t i) const {
    const auto words = block(static_cast<std::uint32_t>(i / 8));
    return pick_word(words, static_cast<unsigned>((i % 8) / 2)) >> (16 * (i % 2)) & 0xFFFFu;
  }
};

constexpr std::array<std::uint32_t, 2> philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// A stream of the training job itself (dropout: c2 = site + call; data order: step = epoch, c2 =
/// 0).
constexpr Stream make_stream(std::uint64_t seed, Purpose purpose, std::uint32_t step = 0,
                             std::uint32_t c2 = 0) {
  return {philox_key(seed), step, c2, static_cast<std::uint32_t>(purpose)};
}

}  // namespace tersor
