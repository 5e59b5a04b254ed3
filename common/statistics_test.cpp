// SPDX-License-Identifier: Apache-2.0
#include "common/statistics.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

using namespace tersor;

TEST_CASE("quantiles interpolate as numpy.quantile does") {
  const std::vector<double> v{1, 2, 4, 8, 16};
  CHECK(quantile(v, 0) == 1);
  CHECK(quantile(v, 1) == 16);
  CHECK(quantile(v, 0.25) == 2);
  CHECK(quantile(v, 0.1) == Approx(1.4));
  CHECK(quantile(v, 0.9) == Approx(12.8));
  CHECK(quantile(std::vector<double>{3.0}, 0.7) == 3);
}

// The same file tests the scripts' median_interval (tests/scripts/medians_test.py).
TEST_CASE("median intervals equal those worked out from the definition") {
  std::ifstream file("common/median_intervals.json");
  const auto cases = nlohmann::json::parse(file);
  REQUIRE(cases.size() == 5);
  for (const auto& item : cases) {
    INFO(item);
    auto values = item.at("values").get<std::vector<double>>();
    std::sort(values.begin(), values.end());
    const Interval interval = median_interval(values, static_cast<double>(values.size()));
    CHECK(quantile(values, 0.5) == item.at("median").get<double>());
    CHECK(interval.low == Approx(item.at("low").get<double>()).epsilon(1e-14));
    CHECK(interval.high == Approx(item.at("high").get<double>()).epsilon(1e-14));
  }
}

TEST_CASE("correlated samples count for less") {
  const std::vector<double> v{1, 2, 3, 4, 5};
  CHECK(median_interval(v, 1e6).low == Approx(3).margin(0.01));
  CHECK(median_interval(v, 1.5).low == 1);
  CHECK(median_interval(v, 1.5).high == 5);
}
