// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Values from the formats' definitions: bfloat16 keeps 7, float16 10 bits of the mantissa.
TEST_CASE("cast rounds to the nearest bfloat16, ties to even") {
  const std::vector<float> x{1.0f + 0x1p-8f, 1.0f + 3 * 0x1p-8f, 1.0f + 0x1p-8f + 0x1p-20f, -0.0f};
  const std::vector<float> y = round_trip("cast", x);
  CHECK(y[0] == 1.0f);
  CHECK(y[1] == 1.0f + 0x1p-6f);
  CHECK(y[2] == 1.0f + 0x1p-7f);
  CHECK(bits(y[3]) == 0x80000000u);
}

TEST_CASE("cast saturates finite values only and makes NaN canonical") {
  const std::vector<float> x{3.4028235e38f, 70000.0f,   -65520.0f,
                             kInfinity,     -kInfinity, std::bit_cast<float>(0xFF812345u)};
  CHECK(encode("cast", x, row_of(x)) ==
        bytes({0x7F, 0x7F, 0x89, 0x47, 0x80, 0xC7, 0x80, 0x7F, 0x80, 0xFF, 0xC0, 0x7F}));
  CHECK(encode("cast(format=fp16)", x, row_of(x)) ==
        bytes({0xFF, 0x7B, 0xFF, 0x7B, 0xFF, 0xFB, 0x00, 0x7C, 0x00, 0xFC, 0x00, 0x7E}));
}

TEST_CASE("cast to float16 keeps subnormals") {
  // 2^-24 is the smallest; half of it ties to 0, three halves to 2^-23.
  const std::vector<float> x{0x1p-24f, 0x1p-25f, 0x1.8p-24f, 0x1.004p-14f};
  CHECK(round_trip("cast(format=fp16)", x) ==
        std::vector<float>{0x1p-24f, 0.0f, 0x1p-23f, 0x1.004p-14f});
}

TEST_CASE("cast is all-reduced in its format") {
  CHECK(make_codec("cast")->reduce_dtype(0, DType::kFloat32) == DType::kBFloat16);
  CHECK(make_codec("cast(format=fp16)")->reduce_dtype(0, DType::kFloat32) == DType::kFloat16);
}

}  // namespace
}  // namespace tersor::compressors
