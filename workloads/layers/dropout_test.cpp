// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/dropout.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace tersor;
using workloads::dropout_factors;

TEST_CASE("dropout: each factor follows its element's draw") {
  const Stream stream = make_stream(5, Purpose::kDropout, 3, 7);
  std::vector<float> factors(1001);
  dropout_factors(0.25, stream, {1, 1001, 1001, 0}, factors);
  int dropped = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const bool is_dropped = stream.draw32(i) < 0x40000000u;
    REQUIRE(factors[i] == (is_dropped ? 0.0f : 4.0f / 3.0f));
    dropped += is_dropped;
  }
  CHECK(dropped == Approx(250).margin(50));
}

TEST_CASE("dropout: a rank's part is cut from the whole tensor") {
  const Stream stream = make_stream(9, Purpose::kDropout, 1, 2);
  std::vector<float> whole(3 * 10), part(3 * 4);
  dropout_factors(0.5, stream, {3, 10, 10, 0}, whole);
  dropout_factors(0.5, stream, {3, 4, 10, 6}, part);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t i = 0; i < 4; ++i) CHECK(part[row * 4 + i] == whole[row * 10 + 6 + i]);
}
