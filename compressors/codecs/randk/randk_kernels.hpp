// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor::compressors {

/// The strata [floor(j n / k), floor((j+1) n / k)) for j = 0, 1, .., without a division each: the
/// remainder of j n / k is carried along. k <= n.
class Strata {
 public:
  Strata(std::int64_t n, std::int64_t k) : k_(k), each_(n / k), rest_(n % k) { next_high(); }

  /// From stratum j on; j n < 2^63.
  static Strata at(std::int64_t n, std::int64_t k, std::int64_t j) {
    Strata strata(n, k);
    strata.high_ = j * n / k;
    strata.high_remainder_ = j * n % k;
    strata.next();
    return strata;
  }

  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }
  std::int64_t length() const { return high_ - low_; }
  /// Of j n / k, where `low` and `high` end.
  std::int64_t low_remainder() const { return low_remainder_; }
  std::int64_t high_remainder() const { return high_remainder_; }
  void next() {
    low_ = high_;
    low_remainder_ = high_remainder_;
    next_high();
  }

 private:
  void next_high() {
    high_remainder_ += rest_;
    const bool carries = high_remainder_ >= k_;
    high_ += each_ + (carries ? 1 : 0);
    high_remainder_ -= carries ? k_ : 0;
  }

  std::int64_t k_;
  std::int64_t each_;
  std::int64_t rest_;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t low_remainder_ = 0;
  std::int64_t high_remainder_ = 0;
};

namespace kernels {

/// draws[i] becomes the position that it draws in stratum first + i: low + ((draw * length) >> 32).
/// n <= 2^32.
void place_in_strata(std::int64_t n, std::int64_t k, std::int64_t first, std::int64_t count,
                     std::uint32_t* draws);
/// values[i] *= the length of stratum first + i.
void multiply_by_lengths(std::int64_t n, std::int64_t k, std::int64_t first, std::int64_t count,
                         float* values);

}  // namespace kernels
}  // namespace tersor::compressors
