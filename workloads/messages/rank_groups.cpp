// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/rank_groups.hpp"

#include "common/error.hpp"

namespace tersor::workloads {

using compressors::GroupLevel;

RankGroups::RankGroups(Collective& all, int nodes)
    : all_(all), node_ranks_(all.ranks() / nodes), node_groups_(make_node_groups(all, nodes)) {
  whole_.push_back(&all_);
  for (const auto& node : node_groups_.nodes) nodes_.push_back(node.get());
  if (node_groups_.leaders) leaders_.push_back(node_groups_.leaders.get());
}

std::span<Collective* const> RankGroups::at(GroupLevel level) const {
  if (level == GroupLevel::kAll) return whole_;
  TERSOR_CHECK(!nodes_.empty(), "a codec that tells nodes apart needs several of them");
  return level == GroupLevel::kNode ? nodes_ : leaders_;
}

compressors::RankPlaces RankGroups::places(GroupLevel level, std::size_t group) const {
  const auto node_ranks = static_cast<std::uint32_t>(node_ranks_);
  if (level == GroupLevel::kAll) return {};
  if (level == GroupLevel::kNodes) return {0, node_ranks};
  // The nodes with a rank here begin with that of the first one.
  const auto first = static_cast<std::uint32_t>(all_.first_rank() / node_ranks_);
  return {(first + static_cast<std::uint32_t>(group)) * node_ranks, 1};
}

std::uint64_t RankGroups::input_bytes() const {
  std::uint64_t bytes = all_.input_bytes();
  if (!nodes_.empty()) bytes += nodes_[0]->input_bytes();
  if (!leaders_.empty()) bytes += leaders_[0]->input_bytes();
  return bytes;
}

}  // namespace tersor::workloads
