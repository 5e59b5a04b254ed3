// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("spike, by hand") {
  const std::vector<float> x{100, 0, 1, 2, 3, -50};
  // Reserved: -50 at 5, 100 at 0. Rest 0..3: m = 0, s = 1 with 2 bits; codes 0 0 1 2 3 0.
  // float16: m 0, s 0x3C00, -50 = 0xD240, 100 = 0x5640; planes high (3, 4), low (2, 4).
  CHECK(encode("spike(bits=2,group=8)", x, row_of(x)) ==
        bytes({0, 0, 0, 0x3C, 0x40, 0xD2, 0x40, 0x56, 5, 0, 0b011000, 0b010100}));
  CHECK(round_trip("spike(bits=2,group=8)", x) == x);
}

TEST_CASE("spike: a group of at most two reserved values is raw, in position order") {
  const std::vector<float> x{3, 1};
  CHECK(encode("spike(bits=1,group=8)", x, row_of(x)) ==
        bytes({0, 0, 0, 0, 0, 0x42, 0, 0x3C, 0, 1, 0}));
}

TEST_CASE("spike refuses a position outside its group, and impossible parameters") {
  Bytes payload = encode("spike(bits=1,group=8)", {3, 1}, {1, 1, 2});
  payload[9] = std::byte{2};
  CHECK_THROWS_AS(decode("spike(bits=1,group=8)", payload, {1, 1, 2}), Error);
  CHECK_THROWS_WITH(make_codec("spike(group=4,reserve=2)"), Catch::Contains("not less than group"));
}

}  // namespace
}  // namespace tersor::compressors
