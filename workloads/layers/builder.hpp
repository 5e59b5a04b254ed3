// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/layers/model_context.hpp"
#include "workloads/layers/operators.hpp"
#include "workloads/layers/parameters.hpp"
#include "workloads/layers/weights.hpp"
#include "workloads/messages/pass.hpp"
#include "workloads/messages/tensor_parallel.hpp"

namespace tersor::workloads {

/// What the layers of a model share when they run. Outlives them.
struct LayerHost {
  TensorParallel& group;
  std::string model;  ///< its name, for messages
  double dropout = 0;
  bool can_overlap = false;              ///< dense sums of gradients run beside the computation
  bool keeps_channels = false;           ///< a codec lets ranks keep channels of their own
  Site* replicated_gradients = nullptr;  ///< then: sums those of replicated parameters
  Site* outputs = nullptr;               ///< then: adds the ranks' outputs

  /// Every rank has activations of its own in this pass.
  bool is_split(const PassContext& pass) const {
    return keeps_channels && pass.compress && group.has_codecs();
  }
  /// A replicated parameter for each part of the activations; gradients come back as one.
  std::vector<at::Tensor> copies(const at::Tensor& parameter, const Pass& pass) const;
};

/// The sites of a column- and a row-parallel linear that belong together: the row-parallel outputs
/// are added at `forward`, the gradients of the column-parallel inputs at `backward`.
struct SitePair {
  Site& forward;
  Site& backward;
};

class Builder;

/// The part of a model in which a layer is made: before the blocks, one block, or behind them. It
/// decides, by place alone, the order of parameters, site numbers, dropout streams and whether
/// messages are compressed.
class LayerScope {
 public:
  LayerScope(Builder& builder, std::int64_t index) : builder_(builder), index_(index) {}

  const LayerHost& host() const;
  /// Of the block, counted in the whole model.
  std::int64_t layer() const { return index_; }

  /// An unsharded tensor as it starts; `is_fresh`: never taken from a file of weights.
  FullTensor full(const std::string& name, std::vector<std::int64_t> shape, Start start,
                  bool is_fresh = false) const;
  at::Tensor replicated(const FullTensor& full, bool is_trainable = true) const;
  /// One shard per rank of the process, of tensors that are fused along `dimension`.
  std::vector<at::Tensor> sharded(const std::string& name, const std::vector<FullTensor>& fulls,
                                  int dimension) const;
  /// `part` is "attention" or "mlp"; `number` is of site_numbers.hpp.
  SitePair sites(const std::string& part, std::uint16_t number) const;
  /// The weights of a learned codec at `site`, for messages of `hidden` channels; else null.
  std::unique_ptr<Bottleneck> bottleneck(const std::string& name, const Site& site,
                                         std::int64_t hidden) const;

 private:
  Builder& builder_;
  std::int64_t index_;
};

/// Makes the layers of a model and owns what they share.
class Builder {
 public:
  /// A model of `layers` blocks whose messages have `hidden` channels.
  Builder(const ModelContext& context, std::int64_t layers, std::int64_t hidden);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  LayerScope embeddings() { return {*this, -1}; }
  LayerScope block(std::int64_t layer);
  LayerScope head() { return {*this, layers_}; }

  /// What is made of the model (ModelContext::part).
  const BlockRange& part() const { return part_; }
  bool has_embeddings() const { return part_.first == 0; }
  bool has_head() const { return part_.end == layers_; }

  const LayerHost& host() const { return host_; }
  Parameters& parameters() { return parameters_; }
  /// Rows of a table of tokens: those of the weights, else of the tokenizer. Throws Error(kUsage)
  /// where the tokenizer has more.
  std::int64_t vocabulary(const std::string& table) const;
  bool has_weights() const { return context_.weights.has_file(); }

 private:
  friend class LayerScope;
  ModelContext context_;
  std::int64_t layers_;
  BlockRange part_;
  std::vector<bool> is_compressed_;  ///< by layer
  std::shared_ptr<const compressors::Codec> codec_, gradient_codec_;
  LayerHost host_;
  Parameters parameters_;
};

}  // namespace tersor::workloads
