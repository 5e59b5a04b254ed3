// SPDX-License-Identifier: Apache-2.0
#include "datasets/metrics/metric.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;

TEST_CASE("metrics equal scikit-learn and scipy") {
  const auto cases = nlohmann::json::parse(testing::read_source("datasets/metrics/expected.json"));
  REQUIRE(cases.size() > 20);
  for (const auto& item : cases) {
    const auto predictions = item["predictions"].get<std::vector<double>>();
    const auto labels = item["labels"].get<std::vector<double>>();
    for (const auto& [name, value] : item.items()) {
      if (name == "predictions" || name == "labels") continue;
      CAPTURE(name, item.dump());
      const double got = compute_metric(name, predictions, labels);
      if (value.is_null())
        CHECK(std::isnan(got));
      else
        CHECK(got == Approx(value.get<double>()).epsilon(0).margin(1e-13));
    }
  }
}

TEST_CASE("metrics by hand") {
  const std::vector<double> labels = {1, 1, 1, 0, 0, 0, 0, 1};
  const std::vector<double> predictions = {1, 0, 1, 0, 1, 0, 0, 1};
  // TP 3, FN 1, FP 1, TN 3.
  CHECK(compute_metric("accuracy", predictions, labels) == 6.0 / 8);
  CHECK(compute_metric("f1", predictions, labels) == 6.0 / 8);
  CHECK(compute_metric("matthews", predictions, labels) == Approx((9.0 - 1.0) / 16));
  // Ranks 1, 2.5, 2.5, 4 against 2, 1, 3.5, 3.5: products of deviations 2.25, squares 4.5 each.
  const std::vector<double> a = {10, 20, 20, 40};
  const std::vector<double> b = {2, 1, 7, 7};
  CHECK(compute_metric("spearman", a, b) == Approx(2.25 / 4.5));
}

TEST_CASE("perplexity weighs samples by their tokens, and is lower where it is better") {
  // 3 tokens of log 2 and one of log 8: exp(6/4 log 2).
  const std::vector<double> losses = {3 * std::log(2.0), std::log(8.0)};
  const std::vector<double> tokens = {3, 1};
  CHECK(compute_metric("perplexity", losses, tokens) == Approx(std::exp2(1.5)));
  const std::vector<double> none = {0, 0};
  CHECK(std::isnan(compute_metric("perplexity", none, none)));
  for (const Metric* metric : all_metrics())
    CHECK(metric->is_higher_better == (metric->name != "perplexity"));
}

TEST_CASE("predictions that are no number") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> labels = {0, 1, 2, 1};
  const std::vector<double> predictions = {0, nan, 2, 1};
  CHECK(compute_metric("accuracy", predictions, labels) == 0.75);
  CHECK(compute_metric("f1", predictions, labels) == Approx(2.0 / 3));
  CHECK(std::isfinite(compute_metric("matthews", predictions, labels)));
  CHECK(std::isnan(compute_metric("pearson", predictions, labels)));
  CHECK(std::isnan(compute_metric("spearman", predictions, labels)));
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> endless = {0, 1, infinity, 2};
  CHECK(std::isnan(compute_metric("pearson", endless, labels)));
  CHECK(compute_metric("spearman", endless, labels) == Approx(0.9486832980505138));
}

TEST_CASE("metrics refuse what they cannot compute") {
  const std::vector<double> two = {0, 1};
  const std::vector<double> three = {0, 1, 1};
  CHECK_THAT(message_of([&] { compute_metric("f1", two, three); }),
             Contains("2 predictions for 3 labels"));
  CHECK_THAT(message_of([&] { compute_metric("f1", {}, {}); }), Contains("at least one"));
  CHECK_THAT(message_of([] { find_metric("acuracy"); }),
             Contains("did you mean 'accuracy'") && Contains("spearman"));
}

}  // namespace
}  // namespace tersor::datasets
