// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compressors/api/codec.hpp"
#include "workloads/comm/mesh.hpp"

namespace tersor::workloads {

/// The ranks of a tensor-parallel group as process groups at each level: all of them; those of a
/// node, which are neighbours; and the nodes' first ranks.
class RankGroups {
 public:
  /// `all` outlives it; `nodes` divides its ranks. Every process calls this together.
  RankGroups(Collective& all, int nodes);

  Collective& all() const { return all_; }
  /// The groups of a level with a rank in this process, in rank order; none where it has no first
  /// rank of a node. Throws Error(kInternal) on a level of nodes where there is one node.
  std::span<Collective* const> at(compressors::GroupLevel level) const;
  /// Where the ranks of at(level)[group] stand among all.
  compressors::RankPlaces places(compressors::GroupLevel level, std::size_t group) const;
  /// What the groups of the process's first rank were handed.
  std::uint64_t input_bytes() const;

 private:
  Collective& all_;
  int node_ranks_;
  NodeGroups node_groups_;
  std::vector<Collective*> whole_, nodes_, leaders_;
};

}  // namespace tersor::workloads
