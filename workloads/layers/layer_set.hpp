// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tersor::workloads {

/// Which of `layers` layers are compressed: `all`, `none`, `last:N`, `first:N`, `A-B` (from 0,
/// inclusive). Throws Error(kUsage) on another form, N > layers, A > B or B >= layers.
std::vector<bool> parse_layers(std::string_view text, std::int64_t layers);

/// Steps of `warmup` ("N" steps or "N epochs"). Throws Error(kUsage) on another form.
std::int64_t parse_warmup(std::string_view text, std::int64_t steps_per_epoch);

}  // namespace tersor::workloads
