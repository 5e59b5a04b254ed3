// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tersor::workloads {

/// Which of a model's `layers` layers the field `layers` chooses (protocol/choices.hpp). Throws
/// Error(kUsage) where the model has fewer than it names, and as protocol::parse_layers.
std::vector<bool> layers_of(std::string_view text, std::int64_t layers);

/// Steps of the field `warmup`. Throws as protocol::parse_warmup.
std::int64_t warmup_steps(std::string_view text, std::int64_t steps_per_epoch);

}  // namespace tersor::workloads
