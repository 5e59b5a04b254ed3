// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor::workloads {

/// Numbers of sites in random streams and records (METHODS section 3). They are functions of the
/// place in the whole model: neither the grid of ranks nor the order in which layers are made
/// changes them. Forward and backward share them.
inline constexpr std::int64_t kMaxLayers = 0x4000;

/// Throw Error(kUsage) where the layer or block, counted from 0 in the whole model, has no number.
std::uint16_t attention_site(std::int64_t layer);
std::uint16_t mlp_site(std::int64_t layer);
/// Behind block `block` of a pipeline.
std::uint16_t boundary_site(std::int64_t block);
/// Sum of a tied embedding's gradient between the first and the last stage.
inline constexpr std::uint16_t kTiedEmbeddingSite = 0xFFF0;

}  // namespace tersor::workloads
