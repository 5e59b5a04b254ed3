// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "workloads/comm/collective.hpp"

namespace tersor::workloads {

/// The ranks of a group by node: neighbouring ranks, the first of them leads.
struct NodeGroups {
  std::vector<std::unique_ptr<Collective>> nodes;  ///< those with a rank in this process
  std::unique_ptr<Collective> leaders;             ///< null in a process without one
};
/// Empty for one node. Throws Error(kInternal) where `nodes` does not divide the ranks.
NodeGroups make_node_groups(Collective& group, int nodes);

/// Where a rank is in a mesh.
struct Coordinates {
  int tensor = 0;  ///< rank in its stage's tensor group
  int stage = 0;   ///< rank in its pipeline group
  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

/// The ranks of a job as tensor x pipeline, tensor ranks fastest (rank = stage * tensor + tensor
/// rank), so that the ranks of a tensor group are neighbours. A process hosts one rank, or all of
/// them where they are emulated. A group that joins all ranks is the world itself.
class Mesh {
 public:
  /// Throws Error(kInternal) where `world` does not have tensor * pipeline ranks, or hosts neither
  /// one nor all of them.
  Mesh(std::unique_ptr<Collective> world, int tensor, int pipeline);

  int tensor() const { return tensor_; }
  int pipeline() const { return pipeline_; }
  Coordinates coordinates(int rank) const { return {rank % tensor_, rank / tensor_}; }
  int rank(const Coordinates& at) const { return at.stage * tensor_ + at.tensor; }

  /// The ranks of this process, ascending, and the stages that they are in.
  std::vector<Coordinates> local() const;
  std::vector<int> local_stages() const;
  /// The neighbours of a stage; none at the ends.
  std::optional<int> previous_stage(int stage) const;
  std::optional<int> next_stage(int stage) const;

  Collective& world() { return *world_; }
  /// The ranks of one stage, by tensor rank. Throws Error(kInternal) where this process hosts none
  /// of them.
  Collective& tensor_group(int stage);
  /// The ranks of one tensor rank in all stages, by stage. Throws likewise.
  Collective& pipeline_group(int tensor);

  /// What the first local rank gave to all of these groups.
  std::uint64_t input_bytes() const;

 private:
  std::unique_ptr<Collective> world_;
  int tensor_;
  int pipeline_;
  // By stage and by tensor rank; empty where the world serves, null where this process has no rank.
  std::vector<std::unique_ptr<Collective>> tensor_groups_, pipeline_groups_;
};

}  // namespace tersor::workloads
