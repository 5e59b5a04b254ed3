// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("nvfp4, by hand: the block of the largest value has scale 448") {
  std::vector<float> x(17, 0.0f);
  x[0] = 2688;
  x[1] = -448;
  x[16] = 6;
  // t = 1; block 1: b = 448, codes 6 and -1; block 2: b = E4M3(1) = 1, code 6.
  Bytes want = bytes({0, 0, 0x80, 0x3F, 0x7E, 0x38, 0xA7, 0, 0, 0, 0, 0, 0, 0, 0x07});
  CHECK(encode("nvfp4", x, row_of(x)) == want);
  CHECK(round_trip("nvfp4", x) == x);
}

TEST_CASE("nvfp4: where the scales' product is 0 the code is 0, without a sign") {
  std::vector<float> x(32, 0.0f);
  x[0] = 1;
  x[16] = -1e-10f;
  const Bytes payload = encode("nvfp4", x, row_of(x));
  CHECK(payload[5] == std::byte{0});
  CHECK(payload[6 + 8] == std::byte{0});
}

}  // namespace
}  // namespace tersor::compressors
