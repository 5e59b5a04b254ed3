// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/tensor.hpp"
#include "compressors/wire/scopes.hpp"

/// How the kernels of scaled.cuh go over a tensor; codecs ask it for their workspace.
namespace tersor::compressors {

/// From the scopes alone, never from the machine: the same launches everywhere.
enum class DeviceReach : std::uint8_t {
  kSegment,   ///< runs of 8, 16, .. 256 elements: lanes of a warp share one; one launch
  kRun,       ///< runs of a multiple of 8 elements: a warp each; one launch
  kLong,      ///< longer runs, or one that is the tensor: many blocks each; two launches
  kChannel,   ///< channels, hidden a multiple of 8; two launches
  kScattered  ///< all other scopes, correct rather than fast; two launches
};

struct DevicePlan {
  DeviceReach reach = DeviceReach::kScattered;
  std::int64_t scopes = 0;
  std::int64_t length = 0;  ///< of a run
  std::int64_t chunks = 1;  ///< kLong: partial results of a run; kChannel: of a channel

  /// Partial results in the workspace.
  std::int64_t keys() const {
    switch (reach) {
      case DeviceReach::kSegment:
      case DeviceReach::kRun: return 0;
      case DeviceReach::kLong:
      case DeviceReach::kChannel: return scopes * chunks;
      case DeviceReach::kScattered: return scopes;
    }
    return 0;
  }
};

inline constexpr std::int64_t kLongestWarpRun = 8192;
inline constexpr std::int64_t kMostChunks = 512;
inline constexpr std::int64_t kChannelTile = 256;  ///< columns of a block
/// Blocks that keep a large GPU busy in the first pass over channels (132 multiprocessors).
inline constexpr std::int64_t kChannelBlocks = 160;

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// `shape` has elements.
inline DevicePlan device_plan(const ScopeGrid& grid, const Shape& shape) {
  DevicePlan plan;
  plan.scopes = grid.count();
  plan.length = grid.longest();
  if (!grid.is_contiguous()) {
    if (shape.hidden % 8 != 0) return plan;
    plan.reach = DeviceReach::kChannel;
    const std::int64_t tiles = divide_up(shape.hidden, kChannelTile);
    plan.chunks = std::clamp<std::int64_t>(kChannelBlocks / tiles, 1, divide_up(shape.rows(), 8));
    return plan;
  }
  const bool is_equal = plan.scopes * plan.length == shape.elements();
  const bool is_whole = plan.length % 8 == 0;
  if (!is_equal || (!is_whole && plan.scopes > 1)) return plan;
  if (is_whole && plan.length <= 256 &&
      std::has_single_bit(static_cast<std::uint64_t>(plan.length)))
    plan.reach = DeviceReach::kSegment;
  else if (is_whole && plan.length <= kLongestWarpRun && plan.scopes > 1)
    plan.reach = DeviceReach::kRun;
  else
    plan.reach = DeviceReach::kLong;
  if (plan.reach == DeviceReach::kLong)
    plan.chunks = std::clamp<std::int64_t>(plan.length / 8192, 1, kMostChunks);
  return plan;
}

/// Workspace of one message on a device: partial results of `key_bytes` each; with `is_mean` those
/// of the fixed tree; with `has_tensor_scale` those of the whole tensor too.
inline std::size_t device_workspace_bytes(const ScopeGrid& grid, const Shape& shape,
                                          std::size_t key_bytes, bool is_mean = false,
                                          bool has_tensor_scale = false) {
  if (shape.elements() == 0) return 0;
  constexpr std::size_t kAlignment = 64;
  const DevicePlan plan = device_plan(grid, shape);
  auto keys = static_cast<std::size_t>(plan.keys());
  if (is_mean) keys = static_cast<std::size_t>(plan.scopes * (1 + divide_up(plan.length, 4096)));
  if (has_tensor_scale) keys += static_cast<std::size_t>(kMostChunks);
  return keys * key_bytes + 3 * kAlignment;
}

}  // namespace tersor::compressors
