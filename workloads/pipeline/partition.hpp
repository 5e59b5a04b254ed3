// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/layers/model_context.hpp"

namespace tersor::workloads {

/// The blocks of each stage (protocol::blocks_of_stages, and its errors).
std::vector<BlockRange> split_blocks(std::int64_t blocks, int stages, std::string_view partition);

}  // namespace tersor::workloads
