// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/rank_groups.hpp"

#include "common/error.hpp"

namespace tersor::workloads {

using compressors::GroupLevel;

RankGroups::RankGroups(Collective& all, int nodes)
    : all_(all), node_groups_(make_node_groups(all, nodes)) {
  whole_.push_back(&all_);
  for (const auto& node : node_groups_.nodes) nodes_.push_back(node.get());
  if (node_groups_.leaders) leaders_.push_back(node_groups_.leaders.get());
}

std::span<Collective* const> RankGroups::at(GroupLevel level) const {
  if (level == GroupLevel::kAll) return whole_;
  TERSOR_CHECK(!nodes_.empty(), "a codec that tells nodes apart needs several of them");
  return level == GroupLevel::kNode ? nodes_ : leaders_;
}

std::uint64_t RankGroups::input_bytes() const {
  std::uint64_t bytes = all_.input_bytes();
  if (!nodes_.empty()) bytes += nodes_[0]->input_bytes();
  if (!leaders_.empty()) bytes += leaders_[0]->input_bytes();
  return bytes;
}

}  // namespace tersor::workloads
