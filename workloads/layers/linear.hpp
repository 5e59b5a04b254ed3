// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/layers/activations.hpp"
#include "workloads/layers/builder.hpp"

/// Linear layers, y = x W^T + b, with weights NAME.weight {outputs, inputs} and NAME.bias.
namespace tersor::workloads {

/// The same weights on every rank.
class Linear {
 public:
  /// `is_fresh`: starts at random whatever the file of weights has.
  Linear(const LayerScope& scope, const std::string& name, std::int64_t inputs,
         std::int64_t outputs, bool is_fresh = false);
  Activations operator()(const Activations& x, const Pass& pass) const;

 private:
  const LayerHost& host_;
  at::Tensor weight_, bias_;
};

/// The outputs are split over the ranks (Megatron's column-parallel linear): replicated input, one
/// output for each rank of the process.
class ColumnParallelLinear {
 public:
  /// One linear, or several of `outputs` each that are fused as `fused`. Throws Error(kInternal)
  /// where the outputs do not split over the ranks.
  ColumnParallelLinear(const LayerScope& scope, const std::string& fused,
                       const std::vector<std::string>& names, std::int64_t inputs,
                       std::int64_t outputs, const SitePair& sites);
  std::vector<at::Tensor> operator()(const Activations& x, const Pass& pass) const;

 private:
  const LayerHost& host_;
  Site& backward_;
  std::vector<at::Tensor> weights_, biases_;  ///< by rank of the process
};

/// The inputs are split over the ranks: one for each rank of the process; their products are added
/// over all ranks, which is the message that codecs compress, before the bias.
class RowParallelLinear {
 public:
  RowParallelLinear(const LayerScope& scope, const std::string& name, std::int64_t inputs,
                    std::int64_t outputs, const SitePair& sites);
  Activations operator()(const std::vector<at::Tensor>& xs, const Shape& shape,
                         const Pass& pass) const;

 private:
  const LayerHost& host_;
  SitePair sites_;
  std::vector<at::Tensor> weights_;  ///< by rank of the process
  at::Tensor bias_;
  std::unique_ptr<Bottleneck> bottleneck_;  ///< of a learned codec
};

/// The one result of a model: where every rank has outputs of its own, the ranks decide together,
/// by their mean.
class Output {
 public:
  explicit Output(const LayerScope& scope) : host_(scope.host()) {}
  at::Tensor operator()(const Activations& x, const Pass& pass) const;

 private:
  const LayerHost& host_;
};

}  // namespace tersor::workloads
