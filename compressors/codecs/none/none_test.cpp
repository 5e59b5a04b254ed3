// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("none keeps every bit of a float32 message, also of a NaN") {
  const float nan = std::bit_cast<float>(0xFFC12345u);
  const std::vector<float> x{1.0f, -0.0f, nan};
  CHECK(encode("none", x, row_of(x)) ==
        bytes({0, 0, 0x80, 0x3F, 0, 0, 0, 0x80, 0x45, 0x23, 0xC1, 0xFF}));
  CHECK(bits(round_trip("none", x)[2]) == 0xFFC12345u);
}

TEST_CASE("none refuses a payload of another size") {
  CHECK_THROWS_AS(decode("none", bytes({1, 2, 3}), {1, 1, 1}), Error);
}

TEST_CASE("none adds float16 values in float32") {
  const std::vector<std::uint16_t> x{0x3C00, 0xC000};  // 1, -2
  std::vector<float> out{0.5f, 0.25f};
  make_codec("none")->decode_accumulate(std::as_bytes(std::span(x)), {1, 1, 2}, DType::kFloat16,
                                        out, nullptr, {});
  CHECK(out == std::vector<float>{1.5f, -1.75f});
}

}  // namespace
}  // namespace tersor::compressors
