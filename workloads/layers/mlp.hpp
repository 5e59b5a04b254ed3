// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "workloads/layers/linear.hpp"

namespace tersor::workloads {

/// Two linears with an activation between them, the middle split over the ranks. The output is the
/// message at the layer's MLP site.
class ParallelMlp {
 public:
  using Activation = at::Tensor (*)(const at::Tensor&);

  /// Throws Error(kUsage) where the middle does not split over the ranks.
  ParallelMlp(const LayerScope& scope, const std::string& up, const std::string& down,
              std::int64_t hidden, std::int64_t intermediate, Activation activation);
  Activations operator()(const Activations& x, const Pass& pass) const;

 private:
  ParallelMlp(const LayerScope& scope, const std::string& up, const std::string& down,
              std::int64_t hidden, std::int64_t intermediate, Activation activation,
              const SitePair& sites);

  Activation activation_;
  ColumnParallelLinear up_;
  RowParallelLinear down_;
};

}  // namespace tersor::workloads
