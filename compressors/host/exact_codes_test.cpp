// SPDX-License-Identifier: Apache-2.0
// Where kernels divide by a reciprocal and correct the quotient, every code must be that of the
// true quotient. A code changes where the rounded quotient passes a limit; the rounded quotient
// does so where the true one passes the middle between two floats, and only the numerators next to
// that middle times the divisor can go wrong. Scaling by powers of two changes nothing, so the
// mantissas of the divisor are all there is: some of them in every run, each of them in
// `[exhaustive]`.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "compressors/codecs/minmax/minmax_kernels.hpp"
#include "compressors/codecs/quantize/quantize_kernels.hpp"
#include "compressors/host/minifloat_kernels.hpp"
#include "compressors/verify/targets_for_test.hpp"
#include "compressors/wire/floats.hpp"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

constexpr std::uint32_t kSampled = 12289;  // a prime: about 700 divisors
constexpr std::uint32_t kMantissas = 1u << 23;

float next(float x, float towards) { return std::nextafter(x, towards); }

// The middle between q and the float below it, exactly.
double middle_below(float q) { return (static_cast<double>(q) + next(q, 0.0f)) / 2; }

// The numerators next to middle * divisor.
void put_neighbours(double middle, float divisor, std::vector<float>& out) {
  const auto nearest = static_cast<float>(middle * divisor);
  out.push_back(next(nearest, 0.0f));
  out.push_back(nearest);
  out.push_back(next(nearest, std::numeric_limits<float>::infinity()));
}

// For each code of min-max but 0: the middle below the first rounded quotient that gets it.
std::vector<double> minmax_middles(int bits) {
  const auto top = static_cast<float>((1 << bits) - 1);
  std::vector<double> middles;
  for (float code = 1; code <= top; ++code) {
    float q = (code - 0.5f) / top;
    const auto gets = [&](float quotient) { return std::nearbyint(quotient * top) >= code; };
    while (gets(q)) q = next(q, 0.0f);
    while (!gets(q)) q = next(q, 1.0f);
    middles.push_back(middle_below(q));
  }
  return middles;
}

void check_minmax(int bits, std::uint32_t step, std::uint32_t first) {
  const std::vector<double> middles = minmax_middles(bits);
  const float zero = 0;
  const float one = 1;
  std::vector<float> x;
  std::vector<std::uint8_t> got(3 * middles.size());
  std::vector<std::uint8_t> want(got.size());
  std::uint64_t wrong = 0;
  for (std::uint32_t mantissa = first; mantissa < kMantissas; mantissa += step) {
    const float width = float_of(0x3F800000u + mantissa);
    x.clear();
    for (const double middle : middles) put_neighbours(middle, width, x);
    kernels::MinMaxLoop loop;
    loop.base = loop.low = loop.high = &zero;
    loop.width = &width;
    loop.factor = &one;
    loop.top = (1 << bits) - 1;
    loop.is_finite = true;
    kernels::minmax_encode(x.data(), std::ssize(x), loop, got.data());
    loop.is_finite = false;
    kernels::minmax_encode(x.data(), std::ssize(x), loop, want.data());
    wrong += got == want ? 0 : 1;
  }
  INFO(bits << " bits");
  CHECK(wrong == 0);
}

// Limits of quantize are (2k + 1) / 2^bits, ties to even: both middles beside each.
void check_quantize(int bits, std::uint32_t step) {
  std::vector<double> middles;
  for (int k = 0; k < 1 << (bits - 1); ++k) {
    const float limit = std::ldexp(static_cast<float>(2 * k + 1), -bits);
    middles.push_back(middle_below(limit));
    middles.push_back(middle_below(next(limit, 2.0f)));
  }
  std::vector<float> x;
  std::vector<std::uint8_t> got(6 * middles.size());
  std::vector<std::uint8_t> want(got.size());
  std::uint64_t wrong = 0;
  for (std::uint32_t mantissa = 0; mantissa < kMantissas; mantissa += step) {
    const float divisor = float_of(0x3F800000u + mantissa);
    const float inverse = 1.0f / divisor;
    x.clear();
    for (const double middle : middles) put_neighbours(middle, divisor, x);
    for (std::size_t i = 0, size = x.size(); i < size; ++i) x.push_back(-x[i]);
    kernels::QuantizeLoop loop;
    loop.divisor = &divisor;
    loop.half = 1 << (bits - 1);
    kernels::quantize(x.data(), std::ssize(x), loop, want.data());
    loop.inverse = &inverse;
    kernels::quantize(x.data(), std::ssize(x), loop, got.data());
    wrong += got == want ? 0 : 1;
  }
  INFO(bits << " bits");
  CHECK(wrong == 0);
}

// Limits of E4M3 are the middles between two values, ties to even. The first three binades have the
// mantissas of all its limits and of those of E5M2 and E2M1.
void check_e4m3(std::uint32_t step) {
  std::vector<double> middles;
  for (std::uint32_t code = 0; code < 24; ++code) {
    const float limit = (E4M3::decode(code) + E4M3::decode(code + 1)) / 2;
    middles.push_back(middle_below(limit));
    middles.push_back(middle_below(next(limit, 448.0f)));
  }
  std::vector<float> x;
  std::vector<std::uint8_t> got(3 * middles.size());
  std::vector<std::uint8_t> want(got.size());
  std::uint64_t wrong = 0;
  const auto encode = [&](bool is_bounded, float scale, std::uint8_t* codes) {
    kernels::encode_small(SmallFloat::kE4M3, x.data(), std::ssize(x), &scale, false, is_bounded,
                          codes);
  };
  for (std::uint32_t mantissa = 0; mantissa < kMantissas; mantissa += step) {
    const float scale = float_of(0x3F800000u + mantissa);
    x.clear();
    for (const double middle : middles) put_neighbours(middle, scale, x);
    encode(true, scale, got.data());
    encode(false, scale, want.data());
    wrong += got == want ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("codes by reciprocals equal those by division, some divisors") {
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    INFO(hwy::TargetName(target));
    check_e4m3(97);
    for (int bits = 1; bits <= 8; ++bits) {
      check_minmax(bits, kSampled, 1);
      check_quantize(bits, kSampled);
    }
  }
}

TEST_CASE("the loop of min-max by division has the codes of the definition") {
  const float width = 1.7f;
  const float zero = 0;
  const float one = 1;
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    for (int bits = 1; bits <= 8; ++bits) {
      const auto top = static_cast<float>((1 << bits) - 1);
      std::vector<float> x;
      for (const double middle : minmax_middles(bits)) put_neighbours(middle, width, x);
      std::vector<std::uint8_t> codes(x.size());
      kernels::MinMaxLoop loop;
      loop.base = loop.low = loop.high = &zero;
      loop.width = &width;
      loop.factor = &one;
      loop.top = (1 << bits) - 1;
      kernels::minmax_encode(x.data(), std::ssize(x), loop, codes.data());
      for (std::size_t i = 0; i < x.size(); ++i)
        REQUIRE(codes[i] == std::nearbyint(x[i] / width * top));
    }
  }
}

TEST_CASE("shares of min-max are the rounded quotients of code and top") {
  const float zero = 0;
  const float one = 1;
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    for (int bits = 1; bits <= 8; ++bits) {
      std::vector<std::uint8_t> codes;
      while (codes.size() < 512)
        codes.push_back(static_cast<std::uint8_t>(codes.size() % (std::size_t{1} << bits)));
      std::vector<float> shares(codes.size());
      kernels::MinMaxLoop loop;
      loop.base = loop.low = loop.high = &zero;
      loop.width = loop.factor = &one;
      loop.top = (1 << bits) - 1;
      kernels::minmax_decode(codes.data(), std::ssize(codes), loop, false, shares.data());
      for (std::size_t i = 0; i < codes.size(); ++i)
        REQUIRE(shares[i] == static_cast<float>(codes[i]) / static_cast<float>(loop.top));
    }
  }
}

// Every divisor; the arithmetic of the widest instruction set is that of the others. The limits of
// quantize with fewer bits are among those of 8, but for a power of two.
TEST_CASE("codes by reciprocals equal those by division, every divisor", "[.][exhaustive]") {
  for (int bits = 1; bits <= 8; ++bits) check_minmax(bits, 1, 0);
  check_quantize(8, 1);
  check_e4m3(1);
}

}  // namespace
}  // namespace tersor::compressors
