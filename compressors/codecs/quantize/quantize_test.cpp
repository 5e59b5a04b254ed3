// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// s = 4 (0x4400); q = rne(x/4.000001 * 2) clipped to -2..1, stored with offset 2:
// -4 -> 0, 4 -> 3, 1 -> 2 (0.4999999), -1.5 -> 1, 0 -> 2.
TEST_CASE("quantize, 2 bits, by hand") {
  const std::vector<float> x{-4, 4, 1, -1.5f, 0};
  const Bytes payload = encode("quantize(bits=2,scope=tensor)", x, row_of(x));
  CHECK(payload == bytes({0x00, 0x44, 0b01'10'11'00, 0b10}));
  CHECK(decode("quantize(bits=2,scope=tensor)", payload, row_of(x)) ==
        std::vector<float>{-4, 2, 0, -2, 0});
}

TEST_CASE("quantize, 1 bit: the largest positive value decodes to 0, as published") {
  const std::vector<float> x{3, -3, -1, 1};
  CHECK(round_trip("quantize(bits=1,scope=tensor)", x) == std::vector<float>{0, -3, 0, 0});
}

TEST_CASE("quantize has one scale per channel over all rows by default") {
  const std::vector<float> x{1, 2, 3, -4};  // two rows of two
  const Bytes payload = encode("quantize", x, {1, 2, 2});
  // Scales 3 and 4; codes 128 + rne(x/s * 128): 42.67 -> 171, 64 -> 192, 127.99996 -> 128, clipped
  // to 127 -> 255, -128 -> 0.
  CHECK(payload == bytes({0x00, 0x42, 0x00, 0x44, 171, 192, 255, 0}));
}

TEST_CASE("quantize, group scope: the last group of a row is short") {
  const std::vector<float> x{1, 2, 4, 8, 16, 32};  // two rows of three, groups of two
  const Bytes payload = encode("quantize(bits=8,scope=group,group=2)", x, {1, 2, 3});
  CHECK(payload.size() == 4 * 2 + 6);
  // Scales 2, 4, 16, 32 in float16.
  CHECK(Bytes(payload.begin(), payload.begin() + 8) ==
        bytes({0x00, 0x40, 0x00, 0x44, 0x00, 0x4C, 0x00, 0x50}));
}

TEST_CASE("quantize, scale=rms: 2 sqrt(mean x^2)") {
  const std::vector<float> x{1, -1, 1, 1};
  const Bytes payload = encode("quantize(bits=8,scope=tensor,scale=rms)", x, row_of(x));
  // s = 2, so x/s * 128 = 64 (less 1e-6 of it).
  CHECK(payload == bytes({0x00, 0x40, 192, 64, 192, 192}));
}

TEST_CASE("quantize: NaN counts as 0, infinities take the end codes, scales saturate") {
  const std::vector<float> x{kNan, kInfinity, -kInfinity, 1e6f};
  const Bytes payload = encode("quantize(scope=tensor)", x, row_of(x));
  CHECK(payload == bytes({0xFF, 0x7B, 128, 255, 0, 255}));  // 65504
  const std::vector<float> none{kNan, kInfinity};
  CHECK(encode("quantize(scope=tensor)", none, row_of(none)) == bytes({0, 0, 128, 255}));
}

TEST_CASE("quantize variant=bian rounds divisor and product to float16") {
  // s = 0.001 in float16 is 0.0010004; in float16 s + 1e-6 is 0.0010014 (0x141A), in float32
  // 0.0010014. The product -127/128 * s = 0.00099256 rounds to 0x1411 = 0.00099277.
  const std::vector<float> x{0.001f, -0.001f};
  const Bytes payload = encode("quantize(scope=tensor,variant=bian)", x, row_of(x));
  CHECK(payload[0] == std::byte{0x19});
  CHECK(payload[1] == std::byte{0x14});
  const float y = decode("quantize(scope=tensor,variant=bian)", payload, row_of(x))[1];
  CHECK(std::ldexp(y, 24) == std::round(std::ldexp(y, 24)));  // a float16 of this exponent
}

TEST_CASE("quantize, stochastic: the share of the upper code is the fraction") {
  // 2.3/4.000001 * 8 = 4.6 at 4 bits: 4 or 5, in the mean 4.6 (deviation of the mean 0.0019).
  std::vector<float> x(65536, 2.3f);
  x[0] = 4;
  const std::vector<float> y = round_trip("quantize(bits=4,scope=tensor,rounding=stochastic)", x);
  double sum = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    REQUIRE((y[i] == 2.0f || y[i] == 2.5f));
    sum += y[i] * 2;
  }
  CHECK(sum / 65535 == Approx(4.6).margin(0.01));
}

TEST_CASE("quantize, stochastic: another rank rounds otherwise, the same rank alike") {
  const std::vector<float> x = activations(512);
  Context first;
  Context second;
  second.rank = 1;
  const std::string spec = "quantize(bits=4,rounding=stochastic)";
  CHECK(encode(spec, x, {1, 4, 128}, first) == encode(spec, x, {1, 4, 128}, first));
  CHECK(encode(spec, x, {1, 4, 128}, first) != encode(spec, x, {1, 4, 128}, second));
}

TEST_CASE("quantize refuses a payload of another size") {
  CHECK_THROWS_AS(decode("quantize", bytes({0, 0}), {1, 1, 1}), Error);
  CHECK_THROWS_AS(decode("quantize", bytes({0, 0, 1, 1}), {1, 1, 1}), Error);
}

TEST_CASE("quantize of an empty tensor is empty") {
  CHECK(encode("quantize", {}, {0, 3, 4}).empty());
  CHECK(decode("quantize", {}, {2, 3, 0}).empty());
}

// Between float16's smallest normal scale and 65,504: half a step, at the top a whole one, and the
// roundings of scale and divisor.
TEST_CASE("quantize stays inside its bound of half a step") {
  const std::vector<float> x = activations(4096);
  for (const int width : {2, 4, 8}) {
    const std::string spec = "quantize(scope=tensor,bits=" + std::to_string(width) + ")";
    const std::vector<float> y = round_trip(spec, x);
    float s = 0;
    for (const float v : x) s = std::max(s, std::fabs(v));
    const float step = s / static_cast<float>(1 << (width - 1));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float limit = x[i] > s - step ? step : step / 2;
      REQUIRE(std::fabs(x[i] - y[i]) <= limit * 1.001f + s * 0.001f);
    }
  }
}

}  // namespace
}  // namespace tersor::compressors
