// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <set>

#include "compressors/codecs/randk/randk.hpp"
#include "compressors/host/select.hpp"
#include "compressors/verify/message_for_test.hpp"
#include "compressors/verify/targets_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

std::vector<std::uint32_t> positions(const RandKOptions& options, std::int64_t n,
                                     const Context& context) {
  const RandK codec(options, "randk");
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(codec.key_elements(n)));
  std::vector<std::uint32_t> out(static_cast<std::size_t>(codec.selected(n) + kPositionSlack));
  codec.draw_positions(n, context, keys, out);
  out.resize(out.size() - kPositionSlack);
  return out;
}

TEST_CASE("randk, uniform: the k smallest (draw, position), ascending") {
  Context context;
  context.seed = 0x123456789ABCDEFu;
  context.step = 7;
  context.site = 3;
  const std::int64_t n = 1000;
  // c1 = step, c2 = site, c3 = purpose 2, from METHODS; the draws one by one.
  const Stream stream{philox_key(context.seed), 7, 3, 2};
  std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return stream.draw32(a) < stream.draw32(b);
  });
  order.resize(100);
  std::sort(order.begin(), order.end());
  CHECK(positions({.ratio = 0.1}, n, context) == order);
}

TEST_CASE("randk, stratified: one position in each stratum") {
  const std::int64_t n = 103;
  const auto chosen = positions({.ratio = 0.1, .is_stratified = true}, n, {});
  REQUIRE(chosen.size() == 10);
  for (std::int64_t j = 0; j < 10; ++j) {
    CHECK(chosen[static_cast<std::size_t>(j)] >= j * n / 10);
    CHECK(chosen[static_cast<std::size_t>(j)] < (j + 1) * n / 10);
  }
}

TEST_CASE("randk, stratified: the positions of the definition, each of a stratum alike") {
  // lo = floor(jn/k), L = floor((j+1)n/k) - lo, position lo + ((draw_j L) >> 32); c3 = purpose 2.
  for (const std::int64_t n : {7, 103, 4096, 65537}) {
    Context context;
    context.seed = 99;
    context.step = 5;
    const Stream stream{philox_key(99), 5, 0, 2};
    const auto chosen = positions({.k = 7, .is_stratified = true}, n, context);
    REQUIRE(chosen.size() == 7);
    for (std::uint64_t j = 0; j < 7; ++j) {
      const auto count = static_cast<std::uint64_t>(n);
      const std::uint64_t low = j * count / 7;
      const std::uint64_t length = (j + 1) * count / 7 - low;
      CHECK(chosen[j] == low + ((std::uint64_t{stream.draw32(j)} * length) >> 32));
    }
  }
  // Five strata of four: 4,000 steps hit each place of a stratum 1,000 times; chi-square with 15
  // degrees of freedom stays below its 1e-6 quantile, 56. Two of one stratum never come together.
  std::vector<double> hits(20);
  for (std::uint32_t step = 0; step < 4000; ++step) {
    Context context;
    context.step = step;
    const auto chosen = positions({.k = 5, .is_stratified = true}, 20, context);
    for (std::size_t j = 0; j < 5; ++j) {
      CHECK(chosen[j] / 4 == j);
      ++hits[chosen[j]];
    }
  }
  double chi = 0;
  for (const double hit : hits) chi += (hit - 1000) * (hit - 1000) / 1000;
  CHECK(chi < 56);
}

TEST_CASE("randk, stratified: many strata, in pieces and on every instruction set") {
  // 3,000 strata of 33 and 34 elements; the payload is 1, 2, .., and decode multiplies by L.
  constexpr std::uint64_t kElements = 100003;
  constexpr std::uint64_t kSelected = 3000;
  Context context;
  context.seed = 17;
  context.step = 9;
  const Stream stream{philox_key(17), 9, 0, 2};
  std::vector<float> x(kElements);
  std::vector<float> want(kElements);
  for (std::uint64_t j = 0; j < kSelected; ++j) {
    const std::uint64_t low = j * kElements / kSelected;
    const std::uint64_t length = (j + 1) * kElements / kSelected - low;
    const std::uint64_t at = low + ((std::uint64_t{stream.draw32(j)} * length) >> 32);
    x[at] = static_cast<float>(j + 1);
    want[at] = static_cast<float>(length) * x[at];
  }
  const char* spec = "randk(k=3000,sampling=stratified,unbiased=true)";
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    const Bytes payload = encode(spec, x, row_of(x), context);
    for (std::uint64_t j = 0; j < kSelected; ++j) {
      float sent;
      std::memcpy(&sent, payload.data() + 4 * j, 4);
      CHECK(sent == static_cast<float>(j + 1));
    }
    CHECK(decode(spec, payload, row_of(x), context) == want);
  }
}

TEST_CASE("randk: shared positions do not depend on the rank, others do") {
  Context other;
  other.rank = 3;
  for (other.rank = 1; other.rank < 8; ++other.rank) {
    CHECK(positions({.ratio = 0.1}, 400, {}) == positions({.ratio = 0.1}, 400, other));
    CHECK(positions({.ratio = 0.1, .is_stratified = true}, 400, {}) ==
          positions({.ratio = 0.1, .is_stratified = true}, 400, other));
  }
  CHECK(positions({.ratio = 0.1, .is_shared = false}, 400, {}) !=
        positions({.ratio = 0.1, .is_shared = false}, 400, other));
}

// Single positions and pairs over 4,000 steps: chi-square with 19 and 189 degrees of freedom stays
// below its 1e-6 quantiles (65 and 296), for uniform samples of 5 of 20.
TEST_CASE("randk is uniform over positions and over pairs") {
  std::vector<double> single(20);
  std::vector<double> pair(400);
  for (std::uint32_t step = 0; step < 4000; ++step) {
    Context context;
    context.step = step;
    const auto chosen = positions({.k = 5}, 20, context);
    for (const auto a : chosen) {
      ++single[a];
      for (const auto b : chosen)
        if (a < b) ++pair[a * 20 + b];
    }
  }
  double chi = 0;
  for (const double hits : single) chi += (hits - 1000) * (hits - 1000) / 1000 / (1 - 0.25);
  CHECK(chi < 65);
  const double expected = 4000.0 * 5 * 4 / (20 * 19);
  chi = 0;
  for (std::size_t a = 0; a < 20; ++a)
    for (std::size_t b = a + 1; b < 20; ++b)
      chi += (pair[a * 20 + b] - expected) * (pair[a * 20 + b] - expected) / expected;
  CHECK(chi < 296);
}

TEST_CASE("randk unbiased multiplies by n/k") {
  const std::vector<float> x(8, 1.0f);
  const std::vector<float> y = round_trip("randk(k=2,unbiased=true)", x);
  CHECK(std::count(y.begin(), y.end(), 4.0f) == 2);
  CHECK(std::count(y.begin(), y.end(), 0.0f) == 6);
  // 3 strata of 8: lengths 2, 3, 3.
  const std::vector<float> z = round_trip("randk(k=3,sampling=stratified,unbiased=true)", x);
  CHECK(std::count(z.begin(), z.end(), 2.0f) == 1);
  CHECK(std::count(z.begin(), z.end(), 3.0f) == 2);
}

TEST_CASE("randk(shared=false) sends indices before values") {
  const std::vector<float> x{5};
  CHECK(encode("randk(shared=false,index=u32)", x, row_of(x)) ==
        bytes({0, 0, 0, 0, 0, 0, 0xA0, 0x40}));
  CHECK(encode("randk", x, row_of(x)) == bytes({0, 0, 0xA0, 0x40}));
}

TEST_CASE("randk(shared=false): a sum has the signs of zero that adding in rank order gives") {
  std::vector<float> x(64, -0.0f);
  x[3] = 1.0f;
  for (const char* spec : {"randk(ratio=1,shared=false)", "randk(ratio=0.9,shared=false)"}) {
    for (const std::uint32_t ranks : {2u, 11u}) {
      INFO(spec << " of " << ranks << " ranks");
      std::vector<Bytes> payloads;
      std::vector<float> expected;
      Context context;
      context.ranks = ranks;
      for (context.rank = 0; context.rank < ranks; ++context.rank) {
        payloads.push_back(encode(spec, x, row_of(x), context));
        const std::vector<float> one = decode(spec, payloads.back(), row_of(x), context);
        if (expected.empty()) expected = one;
        for (std::size_t i = 0; context.rank > 0 && i < x.size(); ++i) expected[i] += one[i];
      }
      const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
      std::vector<float> sum(x.size());
      make_codec(spec)->combine(received, row_of(x), DType::kFloat32, sum, nullptr, context);
      CHECK(std::count_if(expected.begin(), expected.end(), [](float y) { return bits(y) != 0; }) >
            1);
      CHECK(std::memcmp(sum.data(), expected.data(), sum.size() * 4) == 0);
    }
  }
}

}  // namespace
}  // namespace tersor::compressors
