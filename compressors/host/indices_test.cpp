// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/indices.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <numeric>

#include "common/error.hpp"
#include "compressors/host/index_codings.hpp"
#include "compressors/host/select.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;
using Index = std::vector<std::uint32_t>;

Bytes encoded(IndexCoding coding, const Index& index, std::int64_t n) {
  Bytes out(index_bytes(coding, n, std::ssize(index)));
  encode_index(coding, index, n, out.data());
  return out;
}

Index decoded(IndexCoding coding, const Bytes& in, std::int64_t n, std::size_t k) {
  Index out(k);
  decode_index(coding, in.data(), n, out, "topk");
  return out;
}

// n = 8, k = 3: l = 1 (3*2 <= 8 < 3*4). Low bits 1, 0, 1; high bits (i>>1) + j = 0, 3, 5 of 3 + 3.
TEST_CASE("Elias-Fano by hand") {
  const Index index{1, 4, 7};
  CHECK(encoded(IndexCoding::kEliasFano, index, 8) == bytes({0b101, 0b101001}));
  CHECK(decoded(IndexCoding::kEliasFano, bytes({0b101, 0b101001}), 8, 3) == index);
  CHECK(encoded(IndexCoding::kBitmap, index, 8) == bytes({0b10010010}));
}

TEST_CASE("every coding of indices is decoded again") {
  const std::array<std::pair<std::int64_t, std::int64_t>, 7> sizes{
      {{1, 1}, {5, 5}, {64, 32}, {65, 1}, {1000, 37}, {70000, 700}, {65536, 65536}}};
  for (const auto& [n, k] : sizes) {
    Index index(static_cast<std::size_t>(k));
    for (std::int64_t j = 0; j < k; ++j)
      index[static_cast<std::size_t>(j)] =
          static_cast<std::uint32_t>(j * n / k + (j * 7919 % std::max<std::int64_t>(1, n / k)));
    for (const auto coding : {IndexCoding::kI64, IndexCoding::kU32, IndexCoding::kU16,
                              IndexCoding::kBitmap, IndexCoding::kEliasFano}) {
      if (coding == IndexCoding::kU16 && n > 65536) continue;
      CHECK(decoded(coding, encoded(coding, index, n), n, index.size()) == index);
    }
  }
}

TEST_CASE("auto takes the fewest bytes, ties in the order u16, u32, bitmap, ef") {
  const auto choose = [](std::vector<ScopeSizes> sizes) {
    return choose_index_coding(IndexCoding::kAuto, sizes, "topk");
  };
  CHECK(choose({{8, 3, 1}}) == IndexCoding::kBitmap);          // 6, 12, 1, 2 bytes
  CHECK(choose({{1000, 1, 1}}) == IndexCoding::kU16);          // 2 against 125 and 3
  CHECK(choose({{16, 1, 1}}) == IndexCoding::kU16);            // 2, 4, 2, 2
  CHECK(choose({{100000, 1, 1}}) == IndexCoding::kEliasFano);  // 4, 12500, 2 + 1
  CHECK(choose({{100000, 1000, 1}}) == IndexCoding::kEliasFano);
}

TEST_CASE("indices that no encode makes are refused") {
  CHECK_THROWS_AS(decoded(IndexCoding::kU32, bytes({2, 0, 0, 0, 1, 0, 0, 0}), 9, 2), Error);
  CHECK_THROWS_AS(decoded(IndexCoding::kI64, Bytes(8, std::byte{0xFF}), 9, 1), Error);
  CHECK_THROWS_AS(decoded(IndexCoding::kBitmap, bytes({0b111}), 8, 2), Error);
  CHECK_THROWS_AS(decoded(IndexCoding::kBitmap, bytes({0b1}), 8, 2), Error);
  CHECK_THROWS_AS(decoded(IndexCoding::kBitmap, bytes({0b1000001}), 6, 2), Error);
  CHECK_THROWS_AS(decoded(IndexCoding::kEliasFano, bytes({0b101, 0b1001}), 8, 3), Error);
  CHECK_THROWS_AS(decoded(IndexCoding::kEliasFano, bytes({0b001, 0b11}), 4, 2), Error);
}

TEST_CASE("selection equals a stable sort, with ties and at every k") {
  for (const std::size_t n : {1u, 7u, 64u, 1000u, 20000u}) {
    std::vector<std::uint32_t> keys(n);
    const std::vector<float> x = activations(static_cast<std::int64_t>(n));
    for (std::size_t i = 0; i < n; ++i)
      keys[i] = i % 3 == 0 ? 5u : bits(x[i]) >> (i % 2 == 0 ? 0 : 20);
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] > keys[b]; });
    for (const std::size_t k : {std::size_t{1}, n / 100 + 1, n / 3 + 1, n / 2 + 1, n}) {
      if (k > n) continue;
      std::vector<std::uint32_t> chosen(k + kPositionSlack);
      std::vector<std::uint32_t> spare(n + kPositionSlack);
      select_largest(keys, static_cast<std::int64_t>(k), spare, chosen.data());
      chosen.resize(k);
      std::vector<std::uint32_t> want(order.begin(),
                                      order.begin() + static_cast<std::ptrdiff_t>(k));
      std::sort(want.begin(), want.end());
      REQUIRE(chosen == want);
    }
  }
}

}  // namespace
}  // namespace tersor::compressors
