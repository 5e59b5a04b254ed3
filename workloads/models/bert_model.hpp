// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/batches.hpp"
#include "workloads/layers/dropout.hpp"
#include "workloads/models/bert.hpp"
#include "workloads/models/bert_parts.hpp"
#include "workloads/models/parameters.hpp"
#include "workloads/models/weights.hpp"

namespace tersor::workloads {

/// The model of make_bert: bert_build.cpp makes its tensors and sites, bert.cpp runs them.
class Bert : public Model {
 public:
  Bert(const BertSizes& sizes, const ModelContext& context);

  at::Tensor forward(const datasets::Batch& batch, const Pass& pass) override;
  at::Tensor encode(const datasets::Batch& batch, const Pass& pass) override {
    return hidden_states(pass, batch, streams(pass))[0].view(
        {batch.rows, batch.sequence, sizes_.hidden});
  }
  at::Tensor pooled(const datasets::Batch& batch, const Pass& pass) override {
    const std::vector<Replicated> at = streams(pass);
    return pool(hidden_states(pass, batch, at)[0], batch, at[0]);
  }
  Parameters& parameters() override { return parameters_; }
  nlohmann::ordered_json architecture() const override;
  std::int64_t compressed_sites(std::string_view kind) const override;
  std::int64_t hidden() const override { return sizes_.hidden; }

 private:
  FullTensor full(const std::string& name, std::vector<std::int64_t> shape, Start start,
                  bool is_fresh = false);
  at::Tensor replicated(const std::string& name, std::vector<std::int64_t> shape, Start start,
                        bool is_trainable = true, bool is_fresh = false);
  std::vector<at::Tensor> sharded(const std::string& name, const std::vector<FullTensor>& fulls,
                                  int dimension);
  Norm norm(const std::string& name);
  void check() const;
  void build_embeddings();
  void build_layer(std::int64_t index, bool is_compressed);
  void build_sites(Layer& layer, std::int64_t index, bool is_compressed);
  std::unique_ptr<Bottleneck> build_bottleneck(const std::string& name, const Site& site,
                                               std::uint16_t id);
  void build_head();

  bool is_split(const Pass& pass) const {
    return keeps_channels_ && pass->compress && group_.has_codecs();
  }
  std::vector<Replicated> streams(const Pass& pass);
  Streams hidden_states(const Pass& pass, const datasets::Batch& batch,
                        const std::vector<Replicated>& at);
  at::Tensor embed(const Pass& pass, const datasets::Batch& batch, const Replicated& at);
  Streams attention(const Pass& pass, std::size_t index, const Streams& xs,
                    const std::vector<Replicated>& at, const at::Tensor& mask,
                    const Shape& message);
  at::Tensor attend(const Pass& pass, const at::Tensor& qkv, std::int64_t layer, std::size_t local,
                    const at::Tensor& mask, const Shape& message);
  Streams feed_forward(const Pass& pass, std::size_t index, const Streams& xs,
                       const std::vector<Replicated>& at, const Shape& message);
  /// drop, residual and normalisation of each stream
  void add_and_normalize(const Pass& pass, Streams& xs, const Streams& ys,
                         std::uint32_t dropout_site, const std::vector<Replicated>& at,
                         std::size_t layer, Norm ReplicatedLayer::*norm);
  at::Tensor normalize(const at::Tensor& x, const Norm& norm);
  at::Tensor drop(const Pass& pass, const at::Tensor& x, std::uint32_t site);
  at::Tensor drop(const Pass& pass, const at::Tensor& x, std::uint32_t site, const Cut& cut);
  at::Tensor pool(const at::Tensor& x, const datasets::Batch& batch, const Replicated& at);

  BertSizes sizes_;
  TensorParallel& group_;
  Weights& weights_;
  protocol::Cell config_;
  std::int64_t vocabulary_;
  std::int64_t outputs_;
  std::shared_ptr<const compressors::Codec> codec_, gradient_codec_;
  Parameters parameters_;
  Replicated replicated_;
  std::vector<Layer> layers_;
  bool keeps_channels_ = false;  ///< a codec lets ranks keep channels of their own
  Site* replicated_gradients_ = nullptr;
  Site* logits_ = nullptr;
};

}  // namespace tersor::workloads
