// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "common/error.hpp"
#include "compressors/host/hadamard_kernels.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("Walsh-Hadamard of 4, by hand, and its own inverse") {
  std::vector<float> x{1, 2, 3, 4};
  kernels::walsh_hadamard(x.data(), 4);
  CHECK(x == std::vector<float>{5, -1, -2, 0});
  std::vector<float> y = activations(256);
  const std::vector<float> before = y;
  kernels::walsh_hadamard(y.data(), 256);
  // Entry (i, j) of the matrix is the parity of i & j, over sqrt(n).
  for (const std::size_t row : {0u, 1u, 77u, 255u}) {
    double sum = 0;
    for (std::size_t j = 0; j < 256; ++j)
      sum += (std::popcount(row & j) % 2 == 0 ? 1.0 : -1.0) * before[j];
    CHECK(y[row] == Approx(sum / 16).margin(1e-5));
  }
  kernels::walsh_hadamard(y.data(), 256);
  for (std::size_t i = 0; i < 256; ++i) CHECK(y[i] == Approx(before[i]).margin(1e-5));
}

TEST_CASE("srht with all coordinates is lossless up to rounding") {
  const std::vector<float> x = activations(64);
  const std::vector<float> y = round_trip("srht(dim=32)", x, {1, 2, 32});
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(x[i]).margin(1e-5));
}

TEST_CASE("srht is unbiased over seeds") {
  const std::vector<float> x{1, -2, 0.5f};
  std::vector<double> sum(3);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Context context;
    context.seed = seed;
    const auto y = round_trip("srht(dim=1)", x, {1, 1, 3}, context);
    for (std::size_t i = 0; i < 3; ++i) sum[i] += y[i];
  }
  // The deviation of one estimate is below |x| sqrt(3) = 4, of the mean below 0.065.
  for (std::size_t i = 0; i < 3; ++i) CHECK(sum[i] / 4000 == Approx(x[i]).margin(0.3));
}

TEST_CASE("srht refuses more coordinates than the padded row has") {
  CHECK_THROWS_WITH(encode("srht(dim=5)", {1, 2, 3}, {1, 1, 3}),
                    Catch::Contains("padded hidden size 4"));
}

}  // namespace
}  // namespace tersor::compressors
