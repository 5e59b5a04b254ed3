// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/registry.hpp"

namespace tersor::workloads {

/// What an optimizer needs of one parameter: float32, in host memory.
struct ParameterUpdate {
  std::size_t index = 0;  ///< of the parameter in its model; names the optimizer's state of it
  std::span<const float> gradient;
  std::span<float> value;
  bool is_decayed = false;  ///< weight decay applies
};

/// Changes parameters along their gradients, one at a time, so that a gradient can be freed before
/// the next is read. Owns its moments.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// The gradient is first multiplied by `gradient_scale` (clipping).
  virtual void update(const ParameterUpdate& parameter, double learning_rate,
                      float gradient_scale) = 0;
};

/// One optimizer. Put one OptimizerRegistrar at the end of optim/NAME.cpp.
struct OptimizerInfo {
  static constexpr std::string_view kKind = "optimizer";
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Optimizer>(double weight_decay)> make;
};
using OptimizerRegistrar = Registrar<OptimizerInfo>;

/// Throws Error(kUsage) with the nearest name.
inline const OptimizerInfo& find_optimizer(std::string_view name) {
  return Registry<OptimizerInfo>::instance().find(name);
}

}  // namespace tersor::workloads
