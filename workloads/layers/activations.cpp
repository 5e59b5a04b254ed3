// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/activations.hpp"

#include <ATen/ops/add.h>

#include "common/error.hpp"

namespace tersor::workloads {

Activations operator+(const Activations& a, const Activations& b) {
  TERSOR_CHECK(a.parts.size() == b.parts.size(), "activations of one pass have as many parts");
  Activations result{a.samples, a.tokens, {}};
  for (std::size_t i = 0; i < a.parts.size(); ++i)
    result.parts.push_back(at::add(a.parts[i], b.parts[i]));
  return result;
}

}  // namespace tersor::workloads
