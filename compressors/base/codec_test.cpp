// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

using namespace tersor;
using namespace tersor::compressors;

TEST_CASE("float16 conversion: the corners of the format") {
  CHECK(float32_to_float16(1.0f) == 0x3C00);
  CHECK(float32_to_float16(-2.0f) == 0xC000);
  CHECK(float32_to_float16(65504.0f) == 0x7BFF);
  CHECK(float32_to_float16(65519.996f) == 0x7BFF);
  CHECK(float32_to_float16(65520.0f) == 0x7C00);
  CHECK(round_to_float16(65520.0f) == 0x7BFF);
  CHECK(round_to_float16(-70000.0f) == 0xFBFF);
  CHECK(round_to_float16(INFINITY) == 0x7C00);
  CHECK(scale_to_float16(INFINITY) == 0x7BFF);
  CHECK(float32_to_float16(std::ldexp(1.0f, -24)) == 0x0001);
  CHECK(float32_to_float16(std::ldexp(1.0f, -25)) == 0x0000);  // a tie goes to even
  CHECK(float32_to_float16(std::ldexp(1.5f, -25)) == 0x0001);
  CHECK(float32_to_float16(std::ldexp(1.0f, -14)) == 0x0400);
  CHECK(float32_to_float16(-0.0f) == 0x8000);
  CHECK(float32_to_float16(NAN) == kNan16);
  CHECK(float32_to_float16(2049.0f) == 0x6800);  // tie between 2048 and 2050
  CHECK(float32_to_float16(2051.0f) == 0x6802);
}

TEST_CASE("float16: every value survives the way through float32") {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const float wide = float16_to_float32(static_cast<std::uint16_t>(half));
    if (is_nan(wide)) {
      CHECK((half & 0x7FFF) > 0x7C00);
      continue;
    }
    if (float32_to_float16(wide) != half) FAIL("half " << half);
    const int exponent = static_cast<int>(half >> 10 & 31);
    const double fraction = half & 1023;
    double expected =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) expected = INFINITY;
    if (half & 0x8000) expected = -expected;
    if (static_cast<double>(wide) != expected) FAIL("half " << half);
  }
}

TEST_CASE("bfloat16 rounding") {
  CHECK(round_to_bfloat16(1.0f) == 0x3F80);
  CHECK(round_to_bfloat16(float_of(0x3F808000)) == 0x3F80);  // ties to even
  CHECK(round_to_bfloat16(float_of(0x3F818000)) == 0x3F82);
  CHECK(round_to_bfloat16(kFloat32Max) == 0x7F7F);
  CHECK(round_to_bfloat16(-kFloat32Max) == 0xFF7F);
  CHECK(round_to_bfloat16(-INFINITY) == 0xFF80);
  CHECK(round_to_bfloat16(float_of(0xFF800001)) == kNanBf16);
}

TEST_CASE("the fixed tree pairs lanes and blocks as METHODS says") {
  // 1e8 in lane 0 absorbs what meets it in float32: the result tells the order of the additions.
  std::vector<float> x(64, 1.0f);
  x[0] = 1e8f;  // lane 0: 1e8 + 1 = 1e8; lanes 1..31 hold 2 each; 16 folds give 1e8 + (2+..)
  // lane 0 after folding: ((((1e8 + 2) + 4) + 8) + 16) + 32, each step rounded to a multiple of 8.
  const float expected = ((((1e8f + 2) + 4) + 8) + 16) + 32;
  CHECK(fixed_tree_mean(x.data(), 64, 1, false) == expected / 64);
  // Blocks: 5 of them pad to 8; block 0 meets 4, then 2, then 1.
  std::vector<float> y(5 * 4096, 0.0f);
  y[0] = 1e8f;
  for (const int block : {1, 2, 3, 4}) y[static_cast<std::size_t>(block) * 4096] = 4.0f;
  const float folded = ((1e8f + 4.0f) + (4.0f + 0.0f)) + ((4.0f + 0.0f) + (4.0f + 0.0f));
  CHECK(fixed_tree_mean(y.data(), 5 * 4096, 1, false) == folded / (5 * 4096));
  y[7] = NAN;
  y[9] = -INFINITY;
  CHECK(fixed_tree_mean(y.data(), 5 * 4096, 1, false) == folded / (5 * 4096));
}

TEST_CASE("bit streams: field i takes bits i*b .. i*b+b-1") {
  const std::uint8_t codes[11] = {5, 2, 7, 1, 0, 6, 3, 4, 7, 5, 2};
  std::byte out[5] = {};
  pack_codes(codes, 11, 3, out);
  // 101 010 111 001 000 110 011 100 | 111 101 010, low bit first in each field
  std::uint64_t word = 0;
  for (int i = 0; i < 11; ++i) word |= static_cast<std::uint64_t>(codes[i]) << (3 * i);
  for (int i = 0; i < 5; ++i) CHECK(out[i] == static_cast<std::byte>(word >> (8 * i)));
  CHECK(packed_bytes(11, 3) == 5);
  CHECK(packed_bytes(0, 3) == 0);
  std::uint8_t back[11];
  unpack_codes(out, 11, 3, back);
  CHECK(std::equal(codes, codes + 11, back));
  BitWriter writer(out);
  for (const std::uint8_t code : codes) writer.put(code, 3);
  CHECK(writer.finish() == out + 5);
  BitReader reader(out);
  for (const std::uint8_t code : codes) CHECK(reader.take(3) == code);
}

TEST_CASE("round_to saturates finite values and keeps infinities") {
  const std::vector<float> in{70000.0f, -70000.0f, INFINITY, NAN, 1.0f};
  std::vector<std::uint16_t> out(5);
  round_to(DType::kFloat16, in, out.data());
  CHECK(out == std::vector<std::uint16_t>{0x7BFF, 0xFBFF, 0x7C00, 0x7E00, 0x3C00});
  std::vector<float> wide(5);
  widen(DType::kFloat16, out.data(), wide);
  CHECK(wide[0] == 65504.0f);
}

TEST_CASE("streams of a context follow the counter layout") {
  Context context;
  context.seed = 0x1122334455667788u;
  context.step = 9;
  context.call = 3;
  context.site = 5;
  context.rank = 7;
  context.direction = Direction::kBackward;
  context.phase = Phase::kEval;
  const Stream stream = context.random(Purpose::kRounding, true);
  CHECK(stream.key == std::array<std::uint32_t, 2>{0x55667788u, 0x11223344u});
  CHECK(stream.c1 == 9);
  CHECK(stream.c2 == (5u | 3u << 16));
  CHECK(stream.c3 == (3u | 1u << 8 | 1u << 9 | 7u << 16));
  CHECK(context.random(Purpose::kRandK, false).c3 == (2u | 1u << 8 | 1u << 9));
  const Stream fixed = context.fixed_random(Purpose::kSigns);
  CHECK(fixed.c1 == 0);
  CHECK(fixed.c2 == 5);
  CHECK(fixed.c3 == 4);
}
