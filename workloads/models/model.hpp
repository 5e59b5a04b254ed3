// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/registry.hpp"
#include "protocol/cell.hpp"
#include "workloads/messages/pass.hpp"

namespace at {
class Tensor;
}
namespace tersor::datasets {
struct Batch;
}

namespace tersor::workloads {

class Parameters;
class TensorParallel;
class Weights;

/// What a model is built from. References must outlive the model.
struct ModelContext {
  TensorParallel& group;
  Weights& weights;
  const protocol::Cell& config;
  std::int64_t vocabulary = 0;  ///< ids of the tokenizer
  std::int64_t outputs = 2;     ///< classes, or 1 score
};

/// A model with its head, sharded over a tensor-parallel group. Training phases draw dropout.
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
  /// Sites whose codec is not `none`, by kind ("tp", "tp.backward").
  virtual std::int64_t compressed_sites(std::string_view kind) const = 0;
  virtual std::int64_t hidden() const = 0;
};

/// One model. Put one ModelRegistrar at the end of models/NAME.cpp.
struct ModelInfo {
  static constexpr std::string_view kKind = "model";
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Model>(const ModelContext&)> make;
};

using ModelRegistrar = Registrar<ModelInfo>;

const Registry<ModelInfo>::Entries& all_models();
/// Throws Error(kUsage) with the nearest name.
const ModelInfo& find_model(std::string_view name);

}  // namespace tersor::workloads
