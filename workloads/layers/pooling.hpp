// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "workloads/layers/activations.hpp"

/// From the tokens of a sample, {samples * tokens, width}, to one vector, {samples, width}.
namespace tersor::workloads {

Activations first_token(const Activations& x);
/// The mean of those whose `mask` (samples * tokens) is not 0; 0 where there are none.
Activations mean_over_tokens(const Activations& x, std::span<const std::int64_t> mask);

}  // namespace tersor::workloads
