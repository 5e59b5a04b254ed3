// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/error.hpp"
#include "common/philox.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/message_for_test.hpp"
#include "compressors/verify/targets_for_test.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("topk, by hand: ascending positions, then values") {
  const std::vector<float> x{1, -3, 2, -4, 0.5f};
  CHECK(encode("topk(k=2,index=u16)", x, row_of(x)) ==
        bytes({1, 0, 3, 0, 0, 0, 0x40, 0xC0, 0, 0, 0x80, 0xC0}));
  CHECK(round_trip("topk(k=2)", x) == std::vector<float>{0, -3, 0, -4, 0});
}

TEST_CASE("topk: ties go to the lowest position, NaN stands above infinity") {
  CHECK(round_trip("topk(k=2)", {2, -2, 2, 1}) == std::vector<float>{2, -2, 0, 0});
  const std::vector<float> y = round_trip("topk(k=1)", {kInfinity, kNan});
  CHECK(y[0] == 0);
  CHECK(bits(y[1]) == 0x7FC00000u);
}

TEST_CASE("topk: NaN is sent as the canonical one") {
  const std::vector<float> x{std::bit_cast<float>(0xFF812345u)};
  CHECK(encode("topk(index=u16)", x, row_of(x)) == bytes({0, 0, 0, 0, 0xC0, 0x7F}));
}

TEST_CASE("topk per row: positions are local to the row") {
  const std::vector<float> x{1, 2, 4, 3};
  CHECK(encode("topk(k=1,scope=token,index=u16)", x, {1, 2, 2}) ==
        bytes({1, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0x80, 0x40}));
  CHECK(round_trip("topk(k=1,scope=channel)", x, {1, 2, 2}) == std::vector<float>{0, 0, 4, 3});
}

// k = n - int(n (1 - ratio)) = 2; 2 at position 2 is not chosen, so 2 at position 1 is dropped too.
TEST_CASE("topk variant=rudakov drops every value that ties with the pivot") {
  CHECK(round_trip("topk(ratio=0.5,variant=rudakov)", {1, 2, 2, 3}) ==
        std::vector<float>{0, 0, 0, 3});
  CHECK(round_trip("topk(ratio=0.5,variant=rudakov)", {1, 2, 0, 3}) ==
        std::vector<float>{0, 2, 0, 3});
}

TEST_CASE("topk equals a full sort, in every scope") {
  const Shape shape{3, 5, 70};
  const std::vector<float> x = activations(shape.elements());
  const std::vector<float> y = round_trip("topk(ratio=0.1,scope=sample)", x, shape);
  for (std::size_t s = 0; s < 3; ++s) {
    std::vector<std::size_t> order(350);
    std::iota(order.begin(), order.end(), s * 350);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return std::fabs(x[a]) > std::fabs(x[b]); });
    for (std::size_t i = 0; i < 350; ++i) REQUIRE(y[order[i]] == (i < 35 ? x[order[i]] : 0.0f));
  }
}

// Which NaN it is makes no difference, also where a long scope is searched by its bits.
TEST_CASE("topk equals a full sort where a long scope holds NaN of every kind") {
  const Stream stream = make_stream(3, Purpose::kInit, 0);
  for (const std::uint32_t every : {2u, 64u, 5000u}) {
    std::vector<float> x = activations(40000);
    for (std::size_t i = 0; i < x.size(); i += every) {
      const std::uint32_t draw = stream.draw32(i);
      x[i] = float_of(0x7F800001u + draw % 0x7FFFFFu + (draw & 0x80000000u));
    }
    std::vector<std::uint32_t> order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return magnitude_key(x[a]) > magnitude_key(x[b]); });
    for (const std::size_t k : {1u, 400u, 4000u}) {
      std::vector<std::uint32_t> want(order.begin(),
                                      order.begin() + static_cast<std::ptrdiff_t>(k));
      std::sort(want.begin(), want.end());
      for (const std::int64_t target : targets()) {
        const WithTarget with(target);
        INFO("NaN at every " << every << ", k " << k << ", target " << target);
        const Bytes sent = encode("topk(k=" + std::to_string(k) + ",index=u32)", x, row_of(x));
        REQUIRE(std::memcmp(sent.data(), want.data(), 4 * k) == 0);
      }
    }
  }
}

TEST_CASE("topk refuses index=u16 for long scopes, with the remedy") {
  const Shape shape{1, 1, 65537};
  CHECK_THROWS_WITH(make_codec("topk(index=u16)")->payload_bytes(shape, DType::kFloat32, {}),
                    Catch::Contains("65536") && Catch::Contains("index=auto"));
}

TEST_CASE("topk refuses payloads that no encode makes") {
  const Shape shape{1, 1, 4};
  CHECK_THROWS_AS(decode("topk(k=2,index=u16)", bytes({1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}), shape),
                  Error);
  CHECK_THROWS_AS(decode("topk(k=2,index=u16)", bytes({1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}), shape),
                  Error);
  CHECK_THROWS_AS(decode("topk(k=2,index=u16)", bytes({1, 0, 2, 0}), shape), Error);
}

TEST_CASE("topk: the sum of messages is the sum of their dense decodes, signs of zeros too") {
  const Shape shape{1, 1, 3};
  const std::vector<float> first{-0.0f, -0.0f, -0.0f};
  const std::vector<float> second{0, 5, 0};
  const Bytes a = encode("topk(k=2)", first, shape);   // -0 at 0 and 1
  const Bytes b = encode("topk(k=1)", second, shape);  // 5 at 1
  const std::vector<std::span<const std::byte>> alone{a};
  std::vector<float> out(3);
  make_codec("topk(k=2)")->combine(alone, shape, DType::kFloat32, out, nullptr, {});
  CHECK(bits(out[0]) == 0x80000000u);
  const std::vector<std::span<const std::byte>> twice{a, a};
  make_codec("topk(k=2)")->combine(twice, shape, DType::kFloat32, out, nullptr, {});
  CHECK(bits(out[0]) == 0x80000000u);
  CHECK(bits(out[2]) == 0);
  make_codec("topk(k=1)")->decode_accumulate(b, shape, DType::kFloat32, out, nullptr, {});
  CHECK(bits(out[0]) == 0);  // -0 + 0
  CHECK(out[1] == 5);
}

TEST_CASE("a parameter that another replaces has no value in a description") {
  const auto count = describe(*make_codec("topk(k=5)")).at("params");
  CHECK(count.at("k") == 5);
  CHECK(count.at("ratio").is_null());
  const auto share = describe(*make_codec("topk(ratio=0.5)")).at("params");
  CHECK(share.at("ratio") == 0.5);
  CHECK(share.at("k").is_null());
}

}  // namespace
}  // namespace tersor::compressors
