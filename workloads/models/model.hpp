// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "workloads/layers/model_context.hpp"
#include "workloads/messages/pass.hpp"

namespace at {
class Tensor;
}
namespace tersor::datasets {
struct Batch;
}

namespace tersor::workloads {

struct Activations;
class Parameters;

/// A model with its head, or a part of one (ModelContext::part), split over a tensor-parallel
/// group: what comes before the blocks, the blocks, and what comes behind them. Training phases
/// draw dropout.
class Model {
 public:
  virtual ~Model() = default;
  /// What the first block sees. Of a part with the first block.
  virtual Activations embed(const datasets::Batch& batch, const Pass& pass) = 0;
  /// Through the part's blocks.
  virtual Activations run_blocks(Activations x, const datasets::Batch& batch, const Pass& pass) = 0;
  /// Logits or scores, {rows, outputs}, of what the last block gave. Of a part with the last block.
  virtual at::Tensor head(const Activations& x, const datasets::Batch& batch, const Pass& pass) = 0;
  /// What the head's last layer sees, {rows, hidden}.
  virtual Activations pool(const Activations& x, const datasets::Batch& batch, const Pass& pass);
  /// All of these: logits or scores of a whole model.
  at::Tensor forward(const datasets::Batch& batch, const Pass& pass);
  /// Tensors that hold the activations of this process's ranks in this pass: one for all, or one
  /// each.
  virtual std::size_t parts(const PassContext& pass) const = 0;
  virtual const BlockRange& part() const = 0;
  virtual Parameters& parameters() = 0;
  /// Sizes, as they are recorded.
  virtual nlohmann::ordered_json architecture() const = 0;
  virtual std::int64_t hidden() const = 0;
};

/// The model of this name, and the blocks of the whole one. Both throw Error(kUsage) with the
/// nearest name where there is none, and where its sizes do not fit the group or the data.
std::int64_t model_blocks(std::string_view name);
std::unique_ptr<Model> make_model(std::string_view name, const ModelContext& context);

}  // namespace tersor::workloads
