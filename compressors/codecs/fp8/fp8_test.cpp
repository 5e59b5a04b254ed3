// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "compressors/verify/message_for_test.hpp"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

// Values of the codes from the format tables of OCP MX 1.0 and the FP8 paper.
TEST_CASE("small floats: the ends of the ranges and the subnormals") {
  CHECK(E4M3::decode(0x7E) == 448.0f);
  CHECK(E4M3::decode(0x08) == 0x1p-6f);
  CHECK(E4M3::decode(0x01) == 0x1p-9f);
  CHECK(E5M2::decode(0x7B) == 57344.0f);
  CHECK(E5M2::decode(0x01) == 0x1p-16f);
  CHECK(E2M3::decode(0x1F) == 7.5f);
  CHECK(E2M3::decode(0x01) == 0.125f);
  CHECK(E3M2::decode(0x1F) == 28.0f);
  CHECK(E3M2::decode(0x01) == 0.0625f);
  const std::vector<float> e2m1{0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (std::uint32_t code = 0; code < 8; ++code) {
    CHECK(E2M1::decode(code) == e2m1[code]);
    CHECK(E2M1::decode(code | 8) == -e2m1[code]);
  }
}

template <class Format>
void check_rounding() {
  // Every pair of neighbours: below, at and above the middle; the middle goes to the even code.
  for (std::uint32_t code = 0; Format::decode(code) < float_of(Format::kLargestBits); ++code) {
    const float low = Format::decode(code);
    const float middle = (low + Format::decode(code + 1)) / 2;
    const float below = float_of(bits_of(middle) - 1);
    const float above = float_of(bits_of(middle) + 1);
    REQUIRE(Format::encode(low) == code);
    REQUIRE(Format::encode(below) == code);
    REQUIRE(Format::encode(above) == code + 1);
    REQUIRE(Format::encode(middle) == (code % 2 == 0 ? code : code + 1));
    REQUIRE(Format::encode(-low) == (code | (Format::kMagnitude + 1)));
  }
}

TEST_CASE("small floats round to nearest, ties to even, at every code") {
  check_rounding<E4M3>();
  check_rounding<E5M2>();
  check_rounding<E2M3>();
  check_rounding<E3M2>();
  check_rounding<E2M1>();
}

TEST_CASE("small floats saturate; NaN is +0, -0 keeps its sign") {
  CHECK(E4M3::encode(1e30f) == 0x7E);
  CHECK(E4M3::encode(-std::numeric_limits<float>::infinity()) == 0xFE);
  CHECK(E4M3::encode(std::bit_cast<float>(0xFFC00000u)) == 0);
  CHECK(E4M3::encode(-0.0f) == 0x80);
}

TEST_CASE("fp8, by hand: the largest magnitude stands at 448") {
  const std::vector<float> x{-896, 2, 1, 0};
  // Scale 2; codes -448, 1 (0x38), 0.5 (0x30), 0.
  CHECK(encode("fp8", x, row_of(x)) == bytes({0, 0, 0, 0x40, 0xFE, 0x38, 0x30, 0}));
  CHECK(round_trip("fp8", x) == x);
  const std::vector<float> zeros{0, -0.0f};
  CHECK(encode("fp8", zeros, row_of(zeros)) == bytes({0, 0, 0x80, 0x3F, 0, 0x80}));
}

}  // namespace
}  // namespace tersor::compressors
