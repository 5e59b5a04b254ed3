// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "common/error.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("circulant: the matrix of the definition, element by element") {
  Context context;
  context.seed = 9;
  context.site = 2;
  const Stream signs{philox_key(9), 0, 2, 4};
  const Stream matrix{philox_key(9), 0, 2, 7};
  const auto sign = [](const Stream& s, std::size_t i) {
    return (s.draw32(i) >> 31) != 0 ? -1.0 : 1.0;
  };
  const std::size_t h = 11;
  const std::size_t m = 4;
  const std::vector<float> x = activations(11);
  const Bytes payload = encode("circulant(dim=4)", x, {1, 1, 11}, context);
  const std::vector<float> y = decode("circulant(dim=4)", payload, {1, 1, 11}, context);
  std::vector<double> z(m);
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < h; ++i)
      z[j] += sign(matrix, (i + h - j) % h) * sign(signs, i) * x[i];
    z[j] /= 2;  // sqrt(4)
    float sent;
    std::memcpy(&sent, payload.data() + 4 * j, 4);
    CHECK(sent == Approx(z[j]).margin(1e-5));
  }
  for (std::size_t i = 0; i < h; ++i) {
    double want = 0;
    for (std::size_t j = 0; j < m; ++j)
      want += sign(matrix, (i + h - j) % h) * z[j] / 2 * sign(signs, i);
    CHECK(y[i] == Approx(want).margin(1e-5));
  }
}

TEST_CASE("circulant refuses more rows than the matrix has") {
  CHECK_THROWS_AS(encode("circulant(dim=4)", {1, 2, 3}, {1, 1, 3}), Error);
}

}  // namespace
}  // namespace tersor::compressors
