// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tersor::workloads {

/// AdamW (Loshchilov and Hutter 2019) in float32 as PyTorch computes it: p -= lr wd p, then
/// p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps).
struct AdamWSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// Moments of one parameter; t counts its own updates.
struct AdamWState {
  std::vector<float> mean;
  std::vector<float> square;
  std::int64_t updates = 0;
};

/// One update; the gradient is first multiplied by `gradient_scale` (clipping).
void adamw_update(const AdamWSettings& settings, double learning_rate, double weight_decay,
                  float gradient_scale, std::span<const float> gradient, std::span<float> parameter,
                  AdamWState& state);

/// Sum of squares in binary64, in an order that depends on the size alone.
double squared_norm(std::span<const float> values);

}  // namespace tersor::workloads
