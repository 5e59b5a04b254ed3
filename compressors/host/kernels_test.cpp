// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/kernels.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "compressors/api/workspace.hpp"
#include "compressors/host/minifloat_kernels.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/message_for_test.hpp"
#include "compressors/verify/targets_for_test.hpp"
#include "compressors/wire/floats.hpp"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

std::vector<float> hard_values(std::int64_t n) {
  std::vector<float> x = activations(n);
  const std::array special{std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           -0.0f,
                           70000.0f,
                           1e-40f,
                           -3e-39f,
                           65504.0f,
                           5.9e-8f};
  for (std::size_t i = 0; i < special.size(); ++i)
    if (i * 97 < x.size()) x[i * 97] = special[i];
  return x;
}

TEST_CASE("every instruction set gives the same payload and the same decode") {
  for (const auto& [name, info] : registered_codecs()) {
    std::vector<std::string> specs = info.examples;
    if (specs.empty() || info.parameters.empty()) specs.push_back(name);
    for (const std::string& spec : specs) {
      const auto codec = make_codec(spec);
      if (!codec->properties().bit_exact) continue;
      for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
        const Shape shape{3, 7, 211};
        const std::vector<float> values = hard_values(shape.elements());
        std::vector<std::byte> raw(values.size() * item_bytes(dtype));
        round_to(dtype, values, raw.data());
        Context context;
        context.ranks = 2;
        Bytes first;
        std::vector<float> first_out;
        for (const std::int64_t target : targets()) {
          const WithTarget with(target);
          const auto state = codec->make_state(shape, dtype, 2);
          Bytes payload(codec->payload_bytes(shape, dtype, context, 0, state.get()));
          payload.resize(
              codec->encode(0, {raw.data(), shape, dtype}, payload, state.get(), context));
          std::vector<float> out(values.size());
          const auto receiver = codec->make_state(shape, dtype, 2);
          codec->decode(payload, shape, dtype, out, receiver.get(), context);
          std::vector<float> rounded(out.size());
          round_to(DType::kFloat32, out, rounded.data());
          if (first.empty()) {
            first = payload;
            first_out = rounded;
          }
          INFO(spec << " " << to_string(dtype) << " " << hwy::TargetName(target));
          CHECK(payload == first);
          CHECK(std::equal(rounded.begin(), rounded.end(), first_out.begin(),
                           [](float a, float b) { return bits(a) == bits(b); }));
        }
      }
    }
  }
}

// Values around the limits between codes, and odd ones.
std::vector<float> quotients_near_limits(float scale) {
  std::vector<float> x{0.0f,
                       -0.0f,
                       1e-40f,
                       -1e-45f,
                       1e30f,
                       -3e38f,
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()};
  for (int exponent = -20; exponent <= 17; ++exponent) {
    for (int sixteenth = 16; sixteenth < 32; ++sixteenth) {
      const float limit = std::ldexp(static_cast<float>(sixteenth) / 16.0f, exponent) * scale;
      for (const std::int32_t step : {-2, -1, 0, 1, 2})
        x.push_back(float_of(bits(limit) + static_cast<std::uint32_t>(step)));
      x.push_back(-limit);
    }
  }
  return x;
}

TEST_CASE("small floats of the kernels equal the single conversions") {
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    for (const float scale : {1.0f, 0.0f, 0.3f, 1e-30f, 7.1e25f, 0x1.fffffep3f}) {
      const std::vector<float> x = quotients_near_limits(scale == 0.0f ? 1.0f : scale);
      const auto n = std::ssize(x);
      std::vector<std::uint8_t> shared(x.size());
      std::vector<std::uint8_t> each(x.size());
      kernels::encode_small(SmallFloat::kE4M3, x.data(), n, &scale, false, false, shared.data());
      const std::vector<float> scales(x.size(), scale);
      kernels::encode_small(SmallFloat::kE2M1, x.data(), n, scales.data(), true, false,
                            each.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        INFO(x[i] << " / " << scale << " " << hwy::TargetName(target));
        REQUIRE(shared[i] == (scale == 0.0f ? 0u : E4M3::encode(x[i] / scale)));
        REQUIRE(each[i] == (scale == 0.0f ? 0u : E2M1::encode(x[i] / scale)));
      }
    }
  }
}

TEST_CASE("blocks with a scale each equal their elements, one by one") {
  const std::int64_t blocks = 37;
  std::vector<float> x = hard_values(blocks * kMxBlock);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] *= std::ldexp(1.0f, static_cast<int>(i / 32 * 5 % 90) - 60);
  std::fill_n(x.begin() + 64, 32, 0.0f);
  std::fill_n(x.begin() + 128, 32, -1e-42f);
  std::fill_n(x.begin() + 160, 32, 3e38f);
  const auto n = std::ssize(x);
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    // With and without the values that are not finite, which are in the first block of all.
    for (const std::int64_t skipped : {0, 32}) {
      std::vector<std::uint8_t> exponents(static_cast<std::size_t>(blocks));
      std::vector<std::uint8_t> codes(x.size());
      const std::int64_t count = (n - skipped) / kMxBlock;
      kernels::encode_mx(SmallFloat::kE3M2, x.data() + skipped, count, 4, exponents.data(),
                         codes.data());
      for (std::int64_t b = 0; b < count; ++b) {
        const float* block = x.data() + skipped + b * kMxBlock;
        const float absmax = finite_absmax(block, kMxBlock, 1);
        const std::uint8_t stored = mx_exponent(bits(absmax), 4);
        const float scale = std::ldexp(1.0f, int{stored} - 127);
        INFO("block " << b << " " << hwy::TargetName(target));
        REQUIRE(exponents[static_cast<std::size_t>(b)] == stored);
        for (std::int64_t i = 0; i < kMxBlock; ++i)
          REQUIRE(codes[static_cast<std::size_t>(b * kMxBlock + i)] ==
                  E3M2::encode(block[i] / scale));
      }
      const float t = 1e-9f;
      const std::int64_t small = (n - skipped) / kNvFp4Block;
      std::vector<std::uint8_t> scale_codes(static_cast<std::size_t>(small));
      kernels::encode_nvfp4(x.data() + skipped, small, t, scale_codes.data(), codes.data());
      for (std::int64_t b = 0; b < small; ++b) {
        const float* block = x.data() + skipped + b * kNvFp4Block;
        const std::uint32_t code = E4M3::encode((finite_absmax(block, kNvFp4Block, 1) / 6.0f) / t);
        const float scale = E4M3::decode(code) * t;
        INFO("block " << b << " " << hwy::TargetName(target));
        REQUIRE(scale_codes[static_cast<std::size_t>(b)] == code);
        for (std::int64_t i = 0; i < kNvFp4Block; ++i)
          REQUIRE(codes[static_cast<std::size_t>(b * kNvFp4Block + i)] ==
                  (scale == 0.0f ? 0u : E2M1::encode(block[i] / scale)));
      }
    }
  }
}

TEST_CASE("extremes and block sums skip what is not finite") {
  const std::vector<float> x = hard_values(3000);
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    for (const std::int64_t count : {0, 1, 15, 31, 32, 33, 64, 100, 2999}) {
      // From an odd value on, too, wherever that is between two boundaries of vectors.
      for (const std::int64_t first : {0, 1, 2, 97, 101, 194, 291}) {
        if (first + count > std::ssize(x)) continue;
        const float* from = x.data() + first;
        float low = std::numeric_limits<float>::infinity();
        float high = -low;
        float want_low = low;
        float want_high = high;
        for (std::int64_t i = 0; i < count; ++i) {
          if (!is_finite(from[i])) continue;
          want_low = std::min(want_low, from[i] + 0.0f);
          want_high = std::max(want_high, from[i] + 0.0f);
        }
        kernels::min_max(from, count, low, high);
        INFO(count << " from " << first << " " << hwy::TargetName(target));
        CHECK(bits(low) == bits(want_low));
        CHECK(bits(high) == bits(want_high));
        float most = 0;
        kernels::max_magnitude(from, count, most);
        CHECK(most == finite_absmax(from, count, 1));
        if (count > 0)
          CHECK(kernels::block_sum(from, count, true) / static_cast<float>(count) ==
                fixed_tree_mean(from, count, 1, true));
      }
    }
  }
}

TEST_CASE("draws in runs equal draws one by one") {
  const Stream stream{{1, 2}, 3, 4, 5};
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    for (const std::uint64_t begin : {0u, 1u, 3u, 5u, 100u}) {
      for (const std::int64_t count : {1, 63, 64, 65, 300}) {
        std::vector<std::uint32_t> wide(static_cast<std::size_t>(count));
        std::vector<std::uint16_t> narrow(static_cast<std::size_t>(count));
        kernels::fill_draw32(stream, begin, count, wide.data());
        kernels::fill_draw16(stream, begin, count, narrow.data());
        for (std::size_t i = 0; i < wide.size(); ++i) {
          REQUIRE(wide[i] == stream.draw32(begin + i));
          REQUIRE(narrow[i] == stream.draw16(begin + i));
        }
      }
    }
  }
}

TEST_CASE("packed fields stand where METHODS puts them") {
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    for (int width = 1; width <= 8; ++width) {
      for (const std::int64_t count : {1, 7, 8, 9, 63, 64, 65, 200}) {
        std::vector<std::uint8_t> codes(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < codes.size(); ++i)
          codes[i] = static_cast<std::uint8_t>(i * 37 % (std::size_t{1} << width));
        const auto size = static_cast<std::size_t>((count * width + 7) / 8);
        Bytes packed(size + 1, std::byte{0xAA});
        kernels::pack_bits(codes.data(), count, width, packed.data());
        REQUIRE(packed[size] == std::byte{0xAA});
        packed.resize(size);
        for (std::size_t i = 0; i < codes.size(); ++i) {
          for (std::size_t bit = 0; bit < static_cast<std::size_t>(width); ++bit) {
            const std::size_t at = i * static_cast<std::size_t>(width) + bit;
            REQUIRE(((std::to_integer<unsigned>(packed[at / 8]) >> (at % 8)) & 1u) ==
                    ((codes[i] >> bit) & 1u));
          }
        }
        std::vector<std::uint8_t> back(codes.size());
        kernels::unpack_bits(packed.data(), count, width, back.data());
        REQUIRE(back == codes);
      }
    }
  }
}

TEST_CASE("16-bit floats of the kernels equal the single conversions") {
  std::vector<float> x;
  for (std::uint32_t b = 0; b < 0xFFFF0000u; b += 0x10007u) x.push_back(float_of(b));
  // What saturates, stays infinite or becomes the canonical NaN, among values that do not.
  for (const std::uint32_t edge : {0x477FEFFFu, 0x477FF000u, 0x7F7F7FFFu, 0x7F7F8000u, 0x7F7FFFFFu,
                                   0x7F800000u, 0x7F800001u, 0x7FC00001u}) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      x.insert(x.end(), 64, 1.0f);
      x.push_back(float_of(edge | sign));
    }
  }
  const auto n = std::ssize(x);
  std::vector<std::uint16_t> half(x.size());
  std::vector<std::uint16_t> brain(x.size());
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(all.size());
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    kernels::round_float16(x.data(), n, half.data());
    kernels::round_bfloat16(x.data(), n, brain.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(half[i] == round_to_float16(x[i]));
      REQUIRE(brain[i] == round_to_bfloat16(x[i]));
    }
    std::vector<std::uint16_t> canonical(all.size());
    kernels::canonical_float16(all.data(), 65536, canonical.data());
    for (std::size_t i = 0; i < all.size(); ++i)
      REQUIRE(canonical[i] == round_to_float16(float16_to_float32(all[i])));
    kernels::canonical_bfloat16(all.data(), 65536, canonical.data());
    for (std::size_t i = 0; i < all.size(); ++i)
      REQUIRE(canonical[i] == round_to_bfloat16(bfloat16_to_float32(all[i])));
    kernels::widen_float16(all.data(), 65536, wide.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float want = float16_to_float32(all[i]);
      if (want == want) REQUIRE(bits(wide[i]) == bits(want));
      if (want != want) REQUIRE(wide[i] != wide[i]);
    }
  }
}

}  // namespace
}  // namespace tersor::compressors
