// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("sign, by hand: mean magnitude, then bits, low first") {
  const std::vector<float> x{1, -2, 3, -6, -0.0f};
  // (1 + 2 + 3 + 6 + 0)/5 = 2.4 = 0x4019999A; bits 1, 3 and 4.
  CHECK(encode("sign", x, row_of(x)) == bytes({0x9A, 0x99, 0x19, 0x40, 0b11010}));
  CHECK(round_trip("sign", x) == std::vector<float>{2.4f, -2.4f, 2.4f, -2.4f, -2.4f});
}

TEST_CASE("sign: NaN is positive, infinities keep their sign, neither counts in the scale") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{std::bit_cast<float>(0xFFC00000u), -inf, inf, 4};
  CHECK(round_trip("sign", x) == std::vector<float>{1, -1, 1, 1});
}

TEST_CASE("sign per channel: one scale for each hidden position") {
  CHECK(round_trip("sign(scope=channel)", {1, -4, 3, 8}, {1, 2, 2}) ==
        std::vector<float>{2, -6, 2, 6});
}

}  // namespace
}  // namespace tersor::compressors
