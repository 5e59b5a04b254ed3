// SPDX-License-Identifier: Apache-2.0
#include "workloads/optim/adamw.hpp"

#include <array>
#include <cmath>

#include "common/error.hpp"
#include "workloads/optim/optimizer.hpp"

// Wider registers where the machine has them; the operations and their order stay the same, and the
// build has no fused multiply-add, so the results do too.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TERSOR_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TERSOR_WIDE
#endif

namespace tersor::workloads {
namespace {

struct Factors {
  float scale, keep, beta1, beta2, step, root, epsilon;
};

TERSOR_WIDE void update(const Factors f, std::size_t count, const float* gradient,
                        float* __restrict parameter, float* __restrict mean,
                        float* __restrict square) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i] * f.scale;
    const float m = mean[i] + (g - mean[i]) * (1.0f - f.beta1);
    const float v = square[i] * f.beta2 + (g * g) * (1.0f - f.beta2);
    mean[i] = m;
    square[i] = v;
    parameter[i] = parameter[i] * f.keep - f.step * (m / (std::sqrt(v) / f.root + f.epsilon));
  }
}

constexpr std::size_t kLanes = 16;

TERSOR_WIDE void add_squares(const float* values, std::size_t blocks, double* lanes) {
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t j = 0; j < kLanes; ++j) {
      const double value = values[b * kLanes + j];
      lanes[j] += value * value;
    }
}

}  // namespace

void adamw_update(const AdamWSettings& settings, double learning_rate, double weight_decay,
                  float gradient_scale, std::span<const float> gradient, std::span<float> parameter,
                  AdamWState& state) {
  TERSOR_CHECK(gradient.size() == parameter.size(), "gradient and parameter differ in size");
  if (state.mean.empty()) {
    state.mean.resize(parameter.size());
    state.square.resize(parameter.size());
  }
  const auto t = static_cast<double>(++state.updates);
  const Factors factors{gradient_scale,
                        static_cast<float>(1.0 - learning_rate * weight_decay),
                        static_cast<float>(settings.beta1),
                        static_cast<float>(settings.beta2),
                        static_cast<float>(learning_rate / (1.0 - std::pow(settings.beta1, t))),
                        static_cast<float>(std::sqrt(1.0 - std::pow(settings.beta2, t))),
                        static_cast<float>(settings.epsilon)};
  update(factors, parameter.size(), gradient.data(), parameter.data(), state.mean.data(),
         state.square.data());
}

double squared_norm(std::span<const float> values) {
  std::array<double, kLanes> lanes{};
  const std::size_t blocks = values.size() / kLanes;
  add_squares(values.data(), blocks, lanes.data());
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (std::size_t i = blocks * kLanes; i < values.size(); ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

namespace {

class AdamW : public Optimizer {
 public:
  explicit AdamW(double weight_decay) : weight_decay_(weight_decay) {}

  void update(const ParameterUpdate& parameter, double learning_rate,
              float gradient_scale) override {
    if (states_.size() <= parameter.index) states_.resize(parameter.index + 1);
    adamw_update({}, learning_rate, parameter.is_decayed ? weight_decay_ : 0.0, gradient_scale,
                 parameter.gradient, parameter.value, states_[parameter.index]);
  }

 private:
  double weight_decay_;
  std::vector<AdamWState> states_;
};

const OptimizerRegistrar registrar({"adamw", "AdamW (Loshchilov and Hutter 2019)",
                                    [](double weight_decay) -> std::unique_ptr<Optimizer> {
                                      return std::make_unique<AdamW>(weight_decay);
                                    }});

}  // namespace
}  // namespace tersor::workloads
