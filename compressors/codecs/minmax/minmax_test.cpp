// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "common/error.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// min 0, max 3, q = x: codes 0, 1, 2, 3 in one byte, low first.
TEST_CASE("minmax, 2 bits, by hand") {
  const std::vector<float> x{0, 1, 2, 3};
  const Bytes payload = encode("minmax(bits=2)", x, row_of(x));
  CHECK(payload == bytes({0, 0, 0, 0, 0, 0, 0x40, 0x40, 0b11'10'01'00}));
  CHECK(decode("minmax(bits=2)", payload, row_of(x)) == x);
}

TEST_CASE("minmax sends all minima, then all maxima") {
  const std::vector<float> x{1, 2, -3, 5};  // two rows of two, scope=token
  CHECK(encode("minmax(bits=1,scope=token)", x, {1, 2, 2}) ==
        bytes({0, 0, 0x80, 0x3F, 0, 0, 0x40, 0xC0, 0, 0, 0, 0x40, 0, 0, 0xA0, 0x40, 0b1010}));
}

TEST_CASE("minmax: a constant scope is exact, also with a NaN beside it") {
  CHECK(round_trip("minmax(bits=3)", {0.1f, 0.1f, 0.1f}) == std::vector<float>{0.1f, 0.1f, 0.1f});
  CHECK(round_trip("minmax", {kNan, kInfinity}) == std::vector<float>{0, 0});
}

TEST_CASE("minmax: -0 counts as +0, infinities take the end codes, NaN is 0 and clipped") {
  const std::vector<float> x{-0.0f, 1, 2, kInfinity, -kInfinity, kNan};
  const Bytes payload = encode("minmax", x, row_of(x));
  CHECK(payload == bytes({0, 0, 0, 0, 0, 0, 0, 0x40, 0, 128, 255, 255, 0, 0}));
  const std::vector<float> positive{1, 2, kNan};
  CHECK(round_trip("minmax", positive)[2] == 1.0f);
}

TEST_CASE("minmax halves a range that overflows float32") {
  const std::vector<float> x{-3e38f, 3e38f, 1e38f};
  const std::vector<float> y = round_trip("minmax", x);
  CHECK(y[0] == -3e38f);
  CHECK(y[1] == 3e38f);
  CHECK(y[2] == Approx(1e38f).epsilon(0.012));
}

TEST_CASE("minmax, stochastic: the mean of the decodes is the value") {
  std::vector<float> x(65536, 0.3f);
  x[0] = 0;
  x[1] = 1;
  const std::vector<float> y = round_trip("minmax(bits=1,rounding=stochastic)", x);
  double sum = 0;
  for (std::size_t i = 2; i < x.size(); ++i) sum += y[i];
  CHECK(sum / 65534 == Approx(0.3).margin(0.008));
}

TEST_CASE("minmax refuses a payload of another size") {
  CHECK_THROWS_AS(decode("minmax", bytes({0, 0, 0, 0, 0, 0, 0, 0}), {1, 1, 1}), Error);
}

}  // namespace
}  // namespace tersor::compressors
