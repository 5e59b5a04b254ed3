// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/select.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "common/philox.hpp"
#include "compressors/verify/targets_for_test.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

// The k largest keys by sorting, ties to the lowest position; ascending positions.
std::vector<std::uint32_t> largest_by_sort(const std::vector<std::uint32_t>& keys, std::int64_t k) {
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  order.resize(static_cast<std::size_t>(k));
  std::sort(order.begin(), order.end());
  return order;
}

// Draws of `bits` bits: few bits give many ties.
std::vector<std::uint32_t> drawn_keys(std::int64_t n, int bits) {
  const Stream stream = make_stream(7, Purpose::kInit, static_cast<std::uint32_t>(n));
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = stream.draw32(i) >> (32 - bits);
  return keys;
}

TEST_CASE("the k largest keys are those that sorting finds, whatever the guess") {
  for (const std::int64_t target : testing::targets()) {
    const testing::WithTarget with(target);
    for (const std::int64_t n : {1, 15, 33, 200, 1024, 16384, 16385, 40000}) {
      for (const int bits : {1, 4, 20, 32}) {
        const std::vector<std::uint32_t> keys = drawn_keys(n, bits);
        std::vector<std::uint32_t> spare(keys.size() + kPositionSlack);
        for (const std::int64_t k : {std::int64_t{1}, (n + 9) / 10, (n + 1) / 2, n}) {
          const std::vector<std::uint32_t> want = largest_by_sort(keys, k);
          for (const std::uint32_t guess : {0u, 1u, keys[0], 0xFFFFFFFFu}) {
            std::vector<std::uint32_t> found(static_cast<std::size_t>(k + kPositionSlack));
            const Threshold t = select_largest(keys, k, spare, found.data(), guess);
            found.resize(static_cast<std::size_t>(k));
            INFO("n " << n << " bits " << bits << " k " << k << " guess " << guess);
            REQUIRE(found == want);
            REQUIRE(t.ties == std::count(keys.begin(), keys.end(), t.key));
          }
        }
      }
    }
  }
}

TEST_CASE("the largest candidates stay in order, whatever the bracket") {
  for (const std::int64_t target : testing::targets()) {
    const testing::WithTarget with(target);
    for (const int bits : {3, 31}) {
      std::vector<std::uint32_t> keys = drawn_keys(5000, bits);
      std::vector<float> x(keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i)
        x[i] = float_of(keys[i] | static_cast<std::uint32_t>(i % 3 == 0) << 31);
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = magnitude_key(x[i]);
      const std::vector<std::uint32_t> want = largest_by_sort(keys, 700);
      const std::uint32_t lowest = *std::min_element(keys.begin(), keys.end());
      for (const std::uint32_t highest : {lowest, keys[want[0]], 0xFFFFFFFFu}) {
        std::vector<float> values(x.size() + kPositionSlack);
        std::vector<std::uint32_t> positions(x.size() + kPositionSlack);
        std::vector<std::uint32_t> inner(x.size() + kPositionSlack);
        std::vector<std::uint32_t> spare(x.size() + kPositionSlack);
        const std::int64_t found =
            collect_magnitudes(x.data(), std::ssize(x), 0, lowest, values.data(), positions.data());
        REQUIRE(found == std::ssize(x));
        keep_largest(std::span(values).first(x.size()), positions.data(), 700, highest, inner,
                     spare);
        for (std::size_t j = 0; j < want.size(); ++j) {
          REQUIRE(positions[j] == want[j]);
          const float sent = x[want[j]];
          REQUIRE(bits_of(values[j]) == (is_nan(sent) ? kNan32 : bits_of(sent)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tersor::compressors
