// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/comm/tensor.hpp"

namespace tersor::workloads {

/// Activations between layers: {samples * tokens, width} each, or {samples, tokens, width}. One
/// tensor for all ranks of the process, or one for each where ranks keep channels of their own
/// (LayerHost::is_split).
struct Activations {
  std::int64_t samples = 0;
  std::int64_t tokens = 0;
  std::vector<at::Tensor> parts;

  /// How a message of them is cut.
  Shape shape() const { return {samples, tokens, parts[0].size(-1)}; }
  /// f of each part; samples and tokens stay.
  template <typename Function>
  Activations map(Function&& f) const {
    Activations result{samples, tokens, {}};
    for (const at::Tensor& part : parts) result.parts.push_back(f(part));
    return result;
  }
  /// {samples * tokens, width} each.
  Activations flat() const {
    return map([this](const at::Tensor& x) { return x.view({samples * tokens, x.size(-1)}); });
  }
};

Activations operator+(const Activations& a, const Activations& b);

}  // namespace tersor::workloads
