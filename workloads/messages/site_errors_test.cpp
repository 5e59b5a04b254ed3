// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <tuple>

#include "workloads/messages/site_for_test.hpp"

using namespace tersor;
using namespace tersor::workloads;
using workloads::testing::kShape;
using workloads::testing::Run;
using workloads::testing::Samples;

TEST_CASE("site: error samples of a message and of the sum") {
  Run run(2, "topk(ratio=0.5)");
  const auto samples = std::make_shared<Samples>();
  run.pass.samples_errors = true;
  run.pass.recorder = samples;
  run.pass.step = 11;
  const std::vector<float> sum = run.sum(), exact = run.exact();
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    error += std::pow(static_cast<double>(sum[i]) - exact[i], 2);
    norm += std::pow(static_cast<double>(exact[i]), 2);
  }
  REQUIRE(samples->errors.size() == 1);
  const ErrorSample& sample = samples->errors[0];
  CHECK(sample.step == 11);
  CHECK(sample.sum_relative_l2 == Approx(std::sqrt(error / norm)));
  CHECK(sample.message_relative_l2 > 0.0);
  CHECK(sample.message_relative_l2 < 1.0);
  // Top-K keeps values as they are: cos^2 + error^2 = 1 for one message.
  CHECK(std::pow(sample.message_cosine, 2) + std::pow(sample.message_relative_l2, 2) ==
        Approx(1.0));
}

// METHODS section 2: of a codec with state, what the receiver gets against what was handed in.
TEST_CASE("site: the error of a message with a state is against what was handed in") {
  constexpr std::size_t kSent = 7;
  for (const std::string name : {"ef", "ef21"}) {
    INFO(name);
    Run run(2, name + "(topk(k=7))");
    const auto samples = std::make_shared<Samples>();
    run.pass.samples_errors = true;
    run.pass.recorder = samples;
    const std::size_t count = run.contributions[0].size();
    // By hand, of rank 0: ef sends the largest of x + e; ef21 those of x - g, and the result is g.
    std::vector<float> state(count, 0.0f);
    for (std::uint32_t step = 0; step < 4; ++step) {
      run.pass.step = step;
      run.sum();
      const std::vector<float>& x = run.contributions[0];
      std::vector<float> input(count), magnitudes, received(count, 0.0f);
      for (std::size_t i = 0; i < count; ++i) {
        input[i] = name == "ef" ? x[i] + state[i] : x[i] - state[i];
        magnitudes.push_back(std::fabs(input[i]));
      }
      std::sort(magnitudes.rbegin(), magnitudes.rend());
      REQUIRE(magnitudes[kSent - 1] > magnitudes[kSent]);
      double error = 0, norm = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const float sent = std::fabs(input[i]) >= magnitudes[kSent - 1] ? input[i] : 0.0f;
        if (name == "ef")
          state[i] = input[i] - sent;
        else
          state[i] += sent;
        received[i] = name == "ef" ? sent : state[i];
        error += std::pow(double{x[i]} - double{received[i]}, 2);
        norm += std::pow(double{x[i]}, 2);
      }
      REQUIRE(samples->errors.size() == step + 1);
      CHECK(samples->errors.back().message_relative_l2 == Approx(std::sqrt(error / norm)));
      CHECK(samples->errors.back().no_message.empty());
      for (auto& contribution : run.contributions)
        for (float& value : contribution) value *= -0.75f;
    }
    // Sampling leaves the states alone.
    Run twin(2, name + "(topk(k=7))");
    for (int step = 0; step < 4; ++step) {
      twin.sum();
      for (auto& contribution : twin.contributions)
        for (float& value : contribution) value *= -0.75f;
    }
    run.pass.samples_errors = false;
    CHECK(run.sum() == twin.sum());
  }
}

TEST_CASE("site: where no message of one rank is decoded alone, the sample says why") {
  for (const auto& [spec, nodes, words] :
       {std::tuple{"twostep(quantize)", 1, "a message takes 2 rounds"},
        std::tuple{"powersgd(rank=2)", 1, "a message takes 2 rounds"},
        std::tuple{"hierarchical(cast,quantize)", 2, "the sum goes by several stages"}}) {
    Run run(4, spec, SumOrder::kLibrary, nodes);
    const auto samples = std::make_shared<Samples>();
    run.pass.samples_errors = true;
    run.pass.recorder = samples;
    const std::vector<float> sum = run.sum(), exact = run.exact();
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      error += std::pow(double{sum[i]} - double{exact[i]}, 2);
      norm += std::pow(double{exact[i]}, 2);
    }
    REQUIRE(samples->errors.size() == 1);
    CHECK(std::isnan(samples->errors[0].message_relative_l2));
    CHECK(std::isnan(samples->errors[0].message_cosine));
    CHECK_THAT(samples->errors[0].no_message, Catch::StartsWith(words));
    CHECK(samples->errors[0].sum_relative_l2 == Approx(std::sqrt(error / norm)));
  }
}

// METHODS section 2: payload_bytes of `twostep` is the sum of its chunk payloads.
