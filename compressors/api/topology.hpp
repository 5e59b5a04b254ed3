// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor::compressors {

/// Which ranks of a group join in one stage of a message's way.
enum class GroupLevel : std::uint8_t {
  kAll,   ///< all of them
  kNode,  ///< those of a node, each node by itself
  kNodes  ///< the first rank of every node
};

class Codec;

/// One stage: the ranks of each group at `level` sum, by `codec` and its rounds, what the stage
/// before left them (the first stage: their contributions).
struct TopologyStage {
  GroupLevel level = GroupLevel::kAll;
  const Codec* codec = nullptr;  ///< belongs to the codec that declares the stage
};

}  // namespace tersor::compressors
