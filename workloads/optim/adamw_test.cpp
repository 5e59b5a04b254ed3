// SPDX-License-Identifier: Apache-2.0
#include "workloads/optim/adamw.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "workloads/optim/schedule.hpp"

using namespace tersor::workloads;

TEST_CASE("adamw: three updates as torch.optim.AdamW computes them") {
  // The formulas of PyTorch's documentation in binary64, for one element.
  const double rate = 0.1, decay = 0.01, scale = 0.5;
  const std::vector<double> gradients{0.3, -0.7, 2.0};
  double p = 1.5, m = 0, v = 0;
  std::vector<float> parameter{1.5f};
  AdamWState state;
  for (std::size_t t = 1; t <= gradients.size(); ++t) {
    const double g = gradients[t - 1] * scale;
    p -= rate * decay * p;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const auto power = static_cast<double>(t);
    p -= rate * (m / (1 - std::pow(0.9, power))) /
         (std::sqrt(v / (1 - std::pow(0.999, power))) + 1e-8);
    const std::vector<float> gradient{static_cast<float>(gradients[t - 1])};
    adamw_update({}, rate, decay, static_cast<float>(scale), gradient, parameter, state);
    CHECK(parameter[0] == Approx(p).epsilon(1e-5));
  }
  CHECK(state.updates == 3);
}

TEST_CASE("adamw: the wide loop and its tail agree with one element at a time") {
  const std::size_t count = 77;
  std::vector<float> gradient(count), parameter(count);
  for (std::size_t i = 0; i < count; ++i) {
    gradient[i] = std::sin(static_cast<float>(i));
    parameter[i] = std::cos(static_cast<float>(i));
  }
  std::vector<float> whole = parameter;
  AdamWState state;
  adamw_update({}, 1e-3, 0.01, 1.0f, gradient, whole, state);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float> one{parameter[i]};
    AdamWState single;
    adamw_update({}, 1e-3, 0.01, 1.0f, std::vector<float>{gradient[i]}, one, single);
    CHECK(one[0] == whole[i]);
  }
}

TEST_CASE("adamw: squared norm") {
  const std::vector<float> values(35, 2.0f);
  CHECK(squared_norm(values) == 140.0);
  CHECK(squared_norm({}) == 0.0);
}

TEST_CASE("schedule: warm-up, peak, decay") {
  // 0.065 * 80 = 5.2: five steps of warm-up.
  CHECK(linear_learning_rate(0, 80, 0.065, 1.0) == Approx(0.2));
  CHECK(linear_learning_rate(4, 80, 0.065, 1.0) == Approx(1.0));
  CHECK(linear_learning_rate(5, 80, 0.065, 1.0) == Approx(1.0));
  CHECK(linear_learning_rate(79, 80, 0.065, 1.0) == Approx(1.0 / 75));
  CHECK(linear_learning_rate(0, 10, 0.0, 2.0) == Approx(2.0));
}
