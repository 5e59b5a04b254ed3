// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("mx fp8_e4m3, by hand: 1.5 has exponent 0, so the scale is 2^-8") {
  const std::vector<float> x{1.5f, -1, 0.25f};
  // e + 127 = 0 - 8 + 127 = 119; elements 384, -256, 64: 0x7C, 0xF8, 0x68.
  CHECK(encode("mx", x, row_of(x)) == bytes({119, 0x7C, 0xF8, 0x68}));
  CHECK(round_trip("mx", x) == x);
}

TEST_CASE("mx fp4_e2m1 saturates at 6: 7 has exponent 2, so the scale is 1") {
  const std::vector<float> x{7, 2.5f, -0.25f, 0.3f};
  // 6, 2 (tie to even), -0 (tie to even), 0.5; two codes a byte.
  CHECK(encode("mx(format=fp4_e2m1)", x, row_of(x)) == bytes({127, 0x47, 0x18}));
  CHECK(round_trip("mx(format=fp4_e2m1)", x) == std::vector<float>{6, 2, 0, 0.5f});
}

TEST_CASE("mx int8 and fp6, by hand") {
  const std::vector<float> x{1, -1.984375f, 0.0078125f};
  // e = 0; 64, -127, 0.5 -> 0.
  CHECK(encode("mx(format=int8)", x, row_of(x)) == bytes({127, 64, 0x81, 0}));
  const std::vector<float> y{7.5f, 1, 0.125f, -1};
  // e = 2 - 2; codes 0x1F, 0x08, 0x01, 0x28, six bits each.
  CHECK(encode("mx(format=fp6_e2m3)", y, row_of(y)) == bytes({127, 0x1F, 0x12, 0xA0}));
}

TEST_CASE("mx: a block of zeros has scale byte 0; blocks do not cross rows") {
  const std::vector<float> x(66, 0.0f);
  const Bytes payload = encode("mx", x, {1, 2, 33});
  CHECK(payload.size() == 4 + 66);
  CHECK(payload == Bytes(70, std::byte{0}));
}

}  // namespace
}  // namespace tersor::compressors
