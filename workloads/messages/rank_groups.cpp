// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/rank_groups.hpp"

#include <numeric>

#include "common/error.hpp"

namespace tersor::workloads {

using compressors::GroupLevel;

RankGroups::RankGroups(std::unique_ptr<Collective> all, int nodes) : all_(std::move(all)) {
  whole_.push_back(all_.get());
  const int ranks = all_->ranks();
  TERSOR_CHECK(nodes >= 1 && ranks % nodes == 0, "nodes do not divide the ranks");
  if (nodes == 1) return;
  const auto join = [this](std::span<const int> members, std::vector<Collective*>& groups) {
    auto joined = all_->subgroup(members);
    if (!joined) return;
    groups.push_back(joined.get());
    owned_.push_back(std::move(joined));
  };
  const int size = ranks / nodes;
  std::vector<int> leaders;
  for (int first = 0; first < ranks; first += size) {
    std::vector<int> node(static_cast<std::size_t>(size));
    std::iota(node.begin(), node.end(), first);
    join(node, nodes_);
    leaders.push_back(first);
  }
  join(leaders, leaders_);
}

std::span<Collective* const> RankGroups::at(GroupLevel level) const {
  if (level == GroupLevel::kAll) return whole_;
  TERSOR_CHECK(!nodes_.empty(), "a codec that tells nodes apart needs several of them");
  return level == GroupLevel::kNode ? nodes_ : leaders_;
}

std::uint64_t RankGroups::input_bytes() const {
  std::uint64_t bytes = all_->input_bytes();
  if (!nodes_.empty()) bytes += nodes_[0]->input_bytes();
  if (!leaders_.empty()) bytes += leaders_[0]->input_bytes();
  return bytes;
}

}  // namespace tersor::workloads
