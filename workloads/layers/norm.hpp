// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "workloads/layers/activations.hpp"
#include "workloads/layers/builder.hpp"

namespace tersor::workloads {

/// Layer normalisation (Ba et al. 2016) with NAME.weight and NAME.bias, the same on every rank.
class LayerNorm {
 public:
  LayerNorm(const LayerScope& scope, const std::string& name, std::int64_t width, double epsilon);
  Activations operator()(const Activations& x, const Pass& pass) const;

 private:
  const LayerHost& host_;
  at::Tensor weight_, bias_;
  double epsilon_;
};

}  // namespace tersor::workloads
