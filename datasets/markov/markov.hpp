// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "datasets/dataset.hpp"

/// The source of the generated corpus (README.md).
namespace tersor::datasets::markov {

inline constexpr int kWords = 64;
inline constexpr int kFollowers = 4;  ///< in each table

/// Followers of each word: after the last word, and after the one before it.
struct Tables {
  std::array<std::array<std::uint8_t, kFollowers>, kWords> last{};
  std::array<std::array<std::uint8_t, kFollowers>, kWords> before{};
};
Tables tables();

/// The first `count` words of a split, as numbers 0 to 63.
std::vector<std::uint8_t> words(SplitName split, std::int64_t count);

/// Nats per word, from the definition.
struct Entropy {
  double rate = 0;       ///< H: the two words before are known
  double after_one = 0;  ///< H1: one word alone is known
  /// The least mean loss of a causal language model on blocks of `sequence` tokens.
  double best_loss(std::int64_t sequence) const;
};
Entropy entropy();

}  // namespace tersor::datasets::markov
