// SPDX-License-Identifier: Apache-2.0
#include "compressors/base/dense.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <vector>

#include "compressors/verify/message_for_test.hpp"
#include "compressors/verify/targets_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

// By 32 lanes that then fold, one operation at a time.
float folded_dot(const float* x, const float* y, std::int64_t length) {
  std::array<float, 32> lanes{};
  for (std::int64_t i = 0; i < length; ++i) lanes[static_cast<std::size_t>(i % 32)] += x[i] * y[i];
  for (std::size_t half = 16; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

TEST_CASE("products of rows and vectors have one order of sums on every instruction set") {
  const std::int64_t length = GENERATE(1, 31, 32, 33, 64, 384, 1000);
  const std::int64_t count = GENERATE(1, 2, 3, 4, 9);
  const std::int64_t rows = GENERATE(1, 2, 3, 8);
  const std::vector<float> x = activations(rows * length, 1);
  const std::vector<float> vectors = activations(count * length, 2);
  std::vector<float> dots;
  std::vector<float> sums = vectors;
  for (std::int64_t r = 0; r < count; ++r)
    for (std::int64_t t = 0; t < rows; ++t) {
      const float* const row = x.data() + t * length;
      dots.push_back(folded_dot(row, vectors.data() + r * length, length));
      for (std::int64_t i = 0; i < length; ++i)
        sums[static_cast<std::size_t>(r * length + i)] += dots.back() * row[i];
    }
  for (const std::int64_t target : targets()) {
    const WithTarget with(target);
    INFO(hwy::TargetName(target));
    std::vector<float> got_dots(dots.size());
    std::vector<float> got_sums = vectors;
    dense::dot_rows(x.data(), rows, vectors.data(), count, length, rows, got_dots.data());
    // In two parts, as two threads do.
    const std::int64_t half = length / 2;
    dense::add_outer(x.data(), rows, dots.data(), rows, count, length, half, got_sums.data());
    dense::add_outer(x.data() + half, rows, dots.data(), rows, count, length, length - half,
                     got_sums.data() + half);
    CHECK(got_dots == dots);
    CHECK(got_sums == sums);
  }
}

}  // namespace
}  // namespace tersor::compressors
