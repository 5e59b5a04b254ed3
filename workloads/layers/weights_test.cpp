// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/weights.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "common/philox.hpp"
#include "common/safetensors.hpp"

using namespace tersor;
using namespace tersor::workloads;

TEST_CASE("weights: an element's normal comes from its own pair of draws") {
  const std::vector<std::int64_t> shape{3, 7};
  const std::vector<float> values =
      start_values("encoder.layer.0.attention.query.weight", shape, Start::kNormal002, 42);
  REQUIRE(values.size() == 21);
  // c2: the low word of XXH64 of the name, as the reference's manifest has it.
  const Stream stream = make_stream(42, Purpose::kInit, 0, 778091711u);
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const double u = (stream.draw32(i) + 0.5) / 4294967296.0;
    const double w = (stream.draw32(i + 1) + 0.5) / 4294967296.0;
    const double radius = 0.02 * std::sqrt(-2 * std::log(u));
    CHECK(values[i] == Approx(radius * std::cos(2 * std::numbers::pi * w)));
    CHECK(values[i + 1] == Approx(radius * std::sin(2 * std::numbers::pi * w)));
  }
}

TEST_CASE("weights: mean and deviation of the starts") {
  const std::vector<std::int64_t> shape{200, 300};
  double sum = 0, square = 0, largest = 0;
  for (const float value : start_values("a", shape, Start::kNormal002, 1)) {
    sum += value;
    square += static_cast<double>(value) * value;
  }
  CHECK(sum / 60000 == Approx(0).margin(0.0004));
  CHECK(std::sqrt(square / 60000) == Approx(0.02).epsilon(0.01));
  for (const float value : start_values("a", shape, Start::kXavierUniform, 1))
    largest = std::max(largest, std::fabs(static_cast<double>(value)));
  CHECK(largest == Approx(std::sqrt(6.0 / 500)).epsilon(0.001));
}

TEST_CASE("weights: the hash sees names and values, not a codec's weights") {
  const std::vector<std::int64_t> shape{4};
  Weights a("", 1), b("", 1), c("", 2), d("", 1);
  for (Weights* weights : {&a, &b, &c}) weights->take("x", shape, Start::kNormal002);
  d.take("y", shape, Start::kNormal002);
  b.added("codec", shape, Start::kZeros);
  CHECK(a.hash() == b.hash());
  CHECK(a.hash() != c.hash());
  CHECK(a.hash() != d.hash());
}

TEST_CASE("weights: a file's own names are found, those of TensorFlow too") {
  const auto folder = std::filesystem::temp_directory_path();
  const auto file = folder / ("tersor-weights-" + std::to_string(getpid()) + ".safetensors");
  const std::vector<float> one{1, 2}, two{3, 4}, three{5, 6}, four{7, 8};
  const auto view = [](const std::vector<float>& values) {
    return TensorView{values.data(), {1, 1, 2}, DType::kFloat32};
  };
  const std::vector<std::pair<std::string, TensorView>> tensors{
      {"a.LayerNorm.weight", view(one)},
      {"a.LayerNorm.gamma", view(four)},
      {"bert.a.LayerNorm.beta", view(two)},
      {"b.LayerNorm.gamma", view(three)}};
  write_safetensors(file, tensors, {});
  const std::vector<std::int64_t> shape{1, 1, 2};
  Weights weights(file, 1);
  CHECK(weights.take("a.LayerNorm.weight", shape, Start::kOnes) == one);  // the newest name first
  CHECK(weights.take("a.LayerNorm.bias", shape, Start::kZeros) == two);
  CHECK(weights.take("b.LayerNorm.weight", shape, Start::kOnes) == three);
  CHECK_THROWS_WITH(weights.take("c.LayerNorm.weight", shape, Start::kOnes),
                    Catch::Contains("c.LayerNorm.weight"));
  std::filesystem::remove(file);
}
