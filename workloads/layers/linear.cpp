// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/linear.hpp"

#include <ATen/ops/addmm.h>

#include "workloads/layers/operators.hpp"

namespace tersor::workloads {

Linear::Linear(const LayerScope& scope, const std::string& name, std::int64_t inputs,
               std::int64_t outputs, bool is_fresh)
    : host_(scope.host()),
      weight_(scope.replicated(
          scope.full(name + ".weight", {outputs, inputs}, Start::kNormal002, is_fresh))),
      bias_(scope.replicated(scope.full(name + ".bias", {outputs}, Start::kZeros, is_fresh))) {}

Activations Linear::operator()(const Activations& x, const Pass& pass) const {
  const std::vector<at::Tensor> weights = host_.copies(weight_, pass);
  const std::vector<at::Tensor> biases = host_.copies(bias_, pass);
  Activations result{x.samples, x.tokens, {}};
  for (std::size_t i = 0; i < x.parts.size(); ++i)
    result.parts.push_back(at::addmm(biases[i], x.parts[i], weights[i].t()));
  return result;
}

ColumnParallelLinear::ColumnParallelLinear(const LayerScope& scope, const std::string& fused,
                                           const std::vector<std::string>& names,
                                           std::int64_t inputs, std::int64_t outputs,
                                           const SitePair& sites)
    : host_(scope.host()), backward_(sites.backward) {
  std::vector<FullTensor> weights, biases;
  for (const std::string& name : names) {
    weights.push_back(scope.full(name + ".weight", {outputs, inputs}, Start::kNormal002));
    biases.push_back(scope.full(name + ".bias", {outputs}, Start::kZeros));
  }
  weights_ = scope.sharded(fused + ".weight", weights, 0);
  biases_ = scope.sharded(fused + ".bias", biases, 0);
}

std::vector<at::Tensor> ColumnParallelLinear::operator()(const Activations& x,
                                                         const Pass& pass) const {
  if (host_.is_split(*pass)) return split_column_parallel(x.parts, weights_, biases_);
  return column_parallel(pass, x.parts[0], weights_, biases_, backward_, x.shape(),
                         host_.can_overlap);
}

RowParallelLinear::RowParallelLinear(const LayerScope& scope, const std::string& name,
                                     std::int64_t inputs, std::int64_t outputs,
                                     const SitePair& sites)
    : host_(scope.host()),
      sites_(sites),
      weights_(scope.sharded(name + ".weight",
                             {scope.full(name + ".weight", {outputs, inputs}, Start::kNormal002)},
                             1)),
      bias_(scope.replicated(scope.full(name + ".bias", {outputs}, Start::kZeros))),
      bottleneck_(scope.bottleneck(name.substr(0, name.rfind('.')) + ".bottleneck", sites_.forward,
                                   outputs)) {}

Activations RowParallelLinear::operator()(const std::vector<at::Tensor>& xs, const Shape& shape,
                                          const Pass& pass) const {
  const std::vector<at::Tensor> biases = host_.copies(bias_, pass);
  if (host_.is_split(*pass))
    return {shape.samples, shape.tokens,
            split_row_parallel(pass, xs, weights_, biases, sites_.forward, sites_.backward, shape)};
  return {shape.samples,
          shape.tokens,
          {row_parallel(pass, xs, weights_, biases[0], sites_.forward, shape, bottleneck_.get())}};
}

at::Tensor Output::operator()(const Activations& x, const Pass& pass) const {
  if (!host_.is_split(*pass)) return x.parts[0];
  return mean_over_ranks(pass, x.parts, *host_.outputs, x.shape(), host_.group.ranks());
}

}  // namespace tersor::workloads
