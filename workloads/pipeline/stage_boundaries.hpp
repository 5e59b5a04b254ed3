// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/cell.hpp"
#include "workloads/comm/mesh.hpp"
#include "workloads/layers/activations.hpp"
#include "workloads/layers/model_context.hpp"
#include "workloads/messages/boundary.hpp"
#include "workloads/messages/tensor_parallel.hpp"

namespace tersor::workloads {

/// What a stage exchanges with its neighbours. Every tensor rank sends to the same tensor rank of
/// the next stage; where ranks share activations, those of one process are one message.
class StageBoundaries {
 public:
  /// Of `stage`, which has `blocks` of `layers`. The boundary behind a block is compressed where
  /// `layers` of the cell names that block. `mesh` and `group` outlive it.
  StageBoundaries(Mesh& mesh, int stage, const BlockRange& blocks, std::int64_t layers,
                  TensorParallel& group, const protocol::Cell& cell);

  bool is_first() const { return !from_previous_; }
  bool is_last() const { return !to_next_; }

  /// Activations to the next stage.
  void send(const Activations& x, const PassContext& pass);
  /// Those of the previous one: `parts` tensors of this shape.
  Activations receive(const Shape& shape, std::size_t parts, const PassContext& pass,
                      Waiting& waiting);
  /// The gradients of what was received.
  void send_gradients(const Activations& received, const PassContext& pass);
  /// The gradients of what was sent.
  std::vector<at::Tensor> receive_gradients(const Activations& sent, const PassContext& pass,
                                            Waiting& waiting);
  /// Asks for the next message of this kind, so that it comes beside the computation.
  void expect_activations(const Shape& shape, std::size_t parts, const PassContext& pass);
  void expect_gradients(const Activations& sent, const PassContext& pass);
  /// Waits until at most `left` messages of each kind are on their way.
  void finish_sends(std::size_t left = 0);

  /// Senders with a codec, by kind ("pp", "pp.gradient").
  std::int64_t compressed_sites(std::string_view kind) const;
  std::uint64_t codec_state_bytes() const;

 private:
  /// One for each tensor rank of the process.
  template <typename End>
  using Ends = std::vector<std::unique_ptr<End>>;
  /// Both directions of one boundary, as one of its stages sees them.
  struct ToNext {
    Ends<BoundarySender> activations;
    Ends<BoundaryReceiver> gradients;
  };
  struct FromPrevious {
    Ends<BoundaryReceiver> activations;
    Ends<BoundarySender> gradients;
  };

  std::optional<ToNext> to_next_;
  std::optional<FromPrevious> from_previous_;
};

}  // namespace tersor::workloads
