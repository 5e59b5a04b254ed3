// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/autoencoder/autoencoder.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("autoencoder: Xavier start, the same for every rank") {
  std::vector<float> e(40 * 10);
  xavier_weights(5, "autoencoder.encoder", 40, 10, e);
  const double bound = std::sqrt(6.0 / 50);
  double sum = 0;
  for (const float w : e) {
    REQUIRE(std::fabs(w) <= bound);
    sum += double{w} * w;
  }
  // Variance of a uniform distribution: bound^2/3.
  CHECK(sum / 400 == Approx(bound * bound / 3).epsilon(0.15));
  const std::vector<float> x = activations(80);
  Context other;
  other.rank = 1;
  CHECK(encode("autoencoder(dim=10)", x, {1, 2, 40}) ==
        encode("autoencoder(dim=10)", x, {1, 2, 40}, other));
}

TEST_CASE("autoencoder: out = (X E) D") {
  const std::vector<float> x = activations(2 * 12);
  std::vector<float> e(12 * 3);
  std::vector<float> d(3 * 12);
  xavier_weights(0, "autoencoder.encoder", 12, 3, e);
  xavier_weights(0, "autoencoder.decoder", 3, 12, d);
  const std::vector<float> y = round_trip("autoencoder(dim=3)", x, {1, 2, 12});
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t c = 0; c < 12; ++c) {
      double want = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        double z = 0;
        for (std::size_t i = 0; i < 12; ++i) z += double{x[r * 12 + i]} * e[i * 3 + j];
        want += z * d[j * 12 + c];
      }
      CHECK(y[r * 12 + c] == Approx(want).margin(1e-5));
    }
  }
}

TEST_CASE("autoencoder: sizes, parameters and declared bottleneck") {
  const auto per_rank = make_codec("autoencoder");
  const auto tied = make_codec("autoencoder(dim=7,encoder=tied)");
  const Shape shape{2, 3, 384};
  CHECK(per_rank->payload_bytes(shape, DType::kFloat16, {}) == 2 * 3 * 50 * 2);
  CHECK(per_rank->added_parameters(shape, 2) == 3 * 384 * 50);
  CHECK(tied->added_parameters(shape, 2) == 2 * 384 * 7);
  CHECK(per_rank->learned()->dim == 50);
  CHECK(per_rank->learned()->per_rank);
  CHECK_FALSE(tied->learned()->per_rank);
}

TEST_CASE("autoencoder: weights and values that cannot be counted are refused") {
  const auto wide = make_codec("autoencoder(dim=2147483647)");
  const Catch::Matchers::StdString::StartsWithMatcher refusal = Catch::StartsWith(
      "autoencoder(dim=2147483647): 1099511627776 x 2147483647 weights or values are more than "
      "2^40");
  for (const Shape& shape :
       {Shape{1, 1, std::int64_t{1} << 40}, Shape{1, std::int64_t{1} << 40, 1}})
    CHECK_THROWS_WITH(wide->payload_bytes(shape, DType::kFloat32, {}), refusal);
  CHECK_THROWS_WITH(wide->added_parameters({1, 1, std::int64_t{1} << 40}, 2), refusal);
  CHECK(wide->added_parameters({1, 1, 512}, 2) == 3 * 512 * std::int64_t{2147483647});
}

}  // namespace
}  // namespace tersor::compressors
