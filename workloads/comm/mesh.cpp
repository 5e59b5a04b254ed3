// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/mesh.hpp"

#include <numeric>

#include "common/error.hpp"

namespace tersor::workloads {

NodeGroups make_node_groups(Collective& group, int nodes) {
  TERSOR_CHECK(
      nodes >= 1 && group.ranks() % nodes == 0,
      std::to_string(nodes) + " nodes do not divide " + std::to_string(group.ranks()) + " ranks");
  NodeGroups groups;
  if (nodes == 1) return groups;
  const int size = group.ranks() / nodes;
  std::vector<int> leaders;
  for (int first = 0; first < group.ranks(); first += size) {
    std::vector<int> node(static_cast<std::size_t>(size));
    std::iota(node.begin(), node.end(), first);
    if (auto joined = group.subgroup(node)) groups.nodes.push_back(std::move(joined));
    leaders.push_back(first);
  }
  groups.leaders = group.subgroup(leaders);
  return groups;
}

Mesh::Mesh(std::unique_ptr<Collective> world, int tensor, int pipeline)
    : world_(std::move(world)), tensor_(tensor), pipeline_(pipeline) {
  const int ranks = world_->ranks();
  TERSOR_CHECK(tensor >= 1 && pipeline >= 1 && tensor * pipeline == ranks,
               "a mesh of " + std::to_string(tensor) + " x " + std::to_string(pipeline) + " for " +
                   std::to_string(ranks) + " ranks");
  TERSOR_CHECK(world_->local_ranks() == 1 || world_->local_ranks() == ranks,
               "a process hosts one rank of a mesh, or all");
  // Every process makes all of these calls, in this order.
  if (tensor < ranks)
    for (int stage = 0; stage < pipeline; ++stage) {
      std::vector<int> members(static_cast<std::size_t>(tensor));
      for (int t = 0; t < tensor; ++t) members[static_cast<std::size_t>(t)] = rank({t, stage});
      tensor_groups_.push_back(world_->subgroup(members));
    }
  if (pipeline < ranks)
    for (int t = 0; t < tensor; ++t) {
      std::vector<int> members(static_cast<std::size_t>(pipeline));
      for (int stage = 0; stage < pipeline; ++stage)
        members[static_cast<std::size_t>(stage)] = rank({t, stage});
      pipeline_groups_.push_back(world_->subgroup(members));
    }
}

std::vector<Coordinates> Mesh::local() const {
  std::vector<Coordinates> found;
  for (int r = 0; r < world_->local_ranks(); ++r)
    found.push_back(coordinates(world_->first_rank() + r));
  return found;
}

std::vector<int> Mesh::local_stages() const {
  std::vector<int> stages;
  for (const Coordinates& at : local())
    if (stages.empty() || stages.back() != at.stage) stages.push_back(at.stage);
  return stages;
}

std::optional<int> Mesh::previous_stage(int stage) const {
  return stage > 0 ? std::optional(stage - 1) : std::nullopt;
}

std::optional<int> Mesh::next_stage(int stage) const {
  return stage + 1 < pipeline_ ? std::optional(stage + 1) : std::nullopt;
}

Collective& Mesh::tensor_group(int stage) {
  if (tensor_groups_.empty()) return *world_;
  const auto& group = tensor_groups_.at(static_cast<std::size_t>(stage));
  TERSOR_CHECK(group, "no rank of stage " + std::to_string(stage) + " is here");
  return *group;
}

Collective& Mesh::pipeline_group(int tensor) {
  if (pipeline_groups_.empty()) return *world_;
  const auto& group = pipeline_groups_.at(static_cast<std::size_t>(tensor));
  TERSOR_CHECK(group, "no rank with tensor rank " + std::to_string(tensor) + " is here");
  return *group;
}

std::uint64_t Mesh::input_bytes() const {
  const auto first_of = [](const std::vector<std::unique_ptr<Collective>>& groups) {
    for (const auto& group : groups)
      if (group) return group->input_bytes();
    return std::uint64_t{0};
  };
  return world_->input_bytes() + first_of(tensor_groups_) + first_of(pipeline_groups_);
}

}  // namespace tersor::workloads
