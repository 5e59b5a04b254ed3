// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/norm.hpp"

#include <ATen/ops/layer_norm.h>

namespace tersor::workloads {

LayerNorm::LayerNorm(const LayerScope& scope, const std::string& name, std::int64_t width,
                     double epsilon)
    : host_(scope.host()),
      weight_(scope.replicated(scope.full(name + ".weight", {width}, Start::kOnes))),
      bias_(scope.replicated(scope.full(name + ".bias", {width}, Start::kZeros))),
      epsilon_(epsilon) {}

Activations LayerNorm::operator()(const Activations& x, const Pass& pass) const {
  const std::vector<at::Tensor> weights = host_.copies(weight_, pass);
  const std::vector<at::Tensor> biases = host_.copies(bias_, pass);
  Activations result{x.samples, x.tokens, {}};
  for (std::size_t i = 0; i < x.parts.size(); ++i)
    result.parts.push_back(
        at::layer_norm(x.parts[i], {weight_.size(0)}, weights[i], biases[i], epsilon_));
  return result;
}

}  // namespace tersor::workloads
