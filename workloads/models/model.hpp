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

class Parameters;

/// A model with its head, split over a tensor-parallel group. Training phases draw dropout.
class Model {
 public:
  virtual ~Model() = default;
  /// Logits or scores, {rows, outputs}.
  virtual at::Tensor forward(const datasets::Batch& batch, const Pass& pass) = 0;
  /// Last hidden state {rows, sequence, hidden}.
  virtual at::Tensor encode(const datasets::Batch& batch, const Pass& pass) = 0;
  /// What the classifier sees, {rows, hidden}.
  virtual at::Tensor pooled(const datasets::Batch& batch, const Pass& pass) = 0;
  virtual Parameters& parameters() = 0;
  /// Sizes, as they are recorded.
  virtual nlohmann::ordered_json architecture() const = 0;
  virtual std::int64_t hidden() const = 0;
};

/// The model of this name. Throws Error(kUsage) with the nearest name where there is none, and
/// where its sizes do not fit the group or the data.
std::unique_ptr<Model> make_model(std::string_view name, const ModelContext& context);

}  // namespace tersor::workloads
