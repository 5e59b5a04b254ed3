// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/bert.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/error.hpp"
#include "datasets/batches.hpp"
#include "workloads/models/bert_parts.hpp"
#include "workloads/models/parameters.hpp"
#include "workloads/models/weights.hpp"
#include "workloads/parallel/dropout.hpp"
#include "workloads/parallel/layer_set.hpp"
#include "workloads/parallel/operators.hpp"

namespace tersor::workloads {
namespace {

using compressors::Direction;

/// Dropout sites of the stream's c2: four a layer, the embeddings and the head above all of them.
enum DropoutPlace : std::uint32_t { kAttentionOutput = 0, kMlpOutput = 1, kProbabilities = 2 };
constexpr std::uint32_t kEmbeddingDropout = 0xFFFE;
constexpr std::uint32_t kHeadDropout = 0xFFFF;

at::Tensor borrow(const std::vector<std::int64_t>& values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<std::int64_t*>(values.data()), shape, at::kLong);
}

class Bert : public Model {
 public:
  Bert(const BertSizes& sizes, const ModelContext& context);

  at::Tensor forward(const datasets::Batch& batch) override;
  at::Tensor encode(const datasets::Batch& batch) override {
    return hidden_states(batch, streams())[0].view({batch.rows, batch.sequence, sizes_.hidden});
  }
  at::Tensor pooled(const datasets::Batch& batch) override {
    const std::vector<Replicated> at = streams();
    return pool(hidden_states(batch, at)[0], batch, at[0]);
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

  bool is_split() const { return keeps_channels_ && group_.pass.compress && group_.has_codecs(); }
  std::vector<Replicated> streams();
  Streams hidden_states(const datasets::Batch& batch, const std::vector<Replicated>& at);
  at::Tensor embed(const datasets::Batch& batch, const Replicated& at);
  Streams attention(std::size_t index, const Streams& xs, const std::vector<Replicated>& at,
                    const at::Tensor& mask, const Shape& message);
  at::Tensor attend(const at::Tensor& qkv, std::int64_t layer, std::size_t local,
                    const at::Tensor& mask, const Shape& message);
  Streams feed_forward(std::size_t index, const Streams& xs, const std::vector<Replicated>& at,
                       const Shape& message);
  /// drop, residual and normalisation of each stream
  void add_and_normalize(Streams& xs, const Streams& ys, std::uint32_t dropout_site,
                         const std::vector<Replicated>& at, std::size_t layer,
                         Norm ReplicatedLayer::*norm);
  at::Tensor normalize(const at::Tensor& x, const Norm& norm) {
    return at::layer_norm(x, {sizes_.hidden}, norm.weight, norm.bias, sizes_.layer_norm_epsilon);
  }
  at::Tensor drop(const at::Tensor& x, std::uint32_t site);
  at::Tensor drop(const at::Tensor& x, std::uint32_t site, const Cut& cut);
  at::Tensor pool(const at::Tensor& x, const datasets::Batch& batch, const Replicated& at);

  BertSizes sizes_;
  TensorParallel& group_;
  Weights& weights_;
  CellConfig config_;
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

std::shared_ptr<const compressors::Codec> codec_at(const CellConfig& config,
                                                   const std::string& site) {
  const auto found = config.compressor.find(site);
  return compressors::make_codec(found == config.compressor.end() ? "none" : found->second);
}

Bert::Bert(const BertSizes& sizes, const ModelContext& context)
    : sizes_(sizes),
      group_(context.group),
      weights_(context.weights),
      config_(context.config),
      vocabulary_(context.vocabulary),
      outputs_(context.outputs),
      codec_(codec_at(context.config, "tp")),
      gradient_codec_(codec_at(context.config, "tp.backward")) {
  if (weights_.has_file()) vocabulary_ = weights_.rows("embeddings.word_embeddings.weight");
  check();
  if (context.vocabulary > vocabulary_)
    throw Error(ErrorKind::kUsage, "the vocabulary has " + std::to_string(context.vocabulary) +
                                       " tokens, the weights' word table " +
                                       std::to_string(vocabulary_) +
                                       ": give the vocab.txt that belongs to the weights");
  const std::vector<bool> chosen = parse_layers(config_.layers, sizes_.layers);
  build_embeddings();
  for (std::int64_t i = 0; i < sizes_.layers; ++i)
    build_layer(i, chosen[static_cast<std::size_t>(i)]);
  build_head();
  keeps_channels_ = codec_->summed_hidden({1, 1, sizes_.hidden}) < sizes_.hidden;
  if (!keeps_channels_) return;
  replicated_gradients_ =
      &group_.add_site("tp.backward", "replicated", 0, Direction::kBackward, nullptr);
  logits_ = &group_.add_site("tp", "logits", 0, Direction::kForward, nullptr);
}

void Bert::check() const {
  const std::int64_t p = group_.ranks();
  if (sizes_.heads % p != 0 || sizes_.intermediate % p != 0)
    throw Error(ErrorKind::kUsage, "hardware.tp " + std::to_string(p) + " does not divide the " +
                                       std::to_string(sizes_.heads) + " attention heads of " +
                                       config_.model);
  if (config_.sequence > sizes_.positions)
    throw Error(ErrorKind::kUsage, "sequence " + std::to_string(config_.sequence) + " is above " +
                                       config_.model + "'s " + std::to_string(sizes_.positions) +
                                       " positions");
}

FullTensor Bert::full(const std::string& name, std::vector<std::int64_t> shape, Start start,
                      bool is_fresh) {
  std::vector<float> values =
      is_fresh ? weights_.fresh(name, shape, start) : weights_.take(name, shape, start);
  return {name, std::move(shape), std::move(values)};
}

at::Tensor Bert::replicated(const std::string& name, std::vector<std::int64_t> shape, Start start,
                            bool is_trainable, bool is_fresh) {
  return parameters_.add_replicated(full(name, std::move(shape), start, is_fresh), is_trainable)
      .value;
}

std::vector<at::Tensor> Bert::sharded(const std::string& name, const std::vector<FullTensor>& fulls,
                                      int dimension) {
  std::vector<at::Tensor> shards;
  for (std::size_t l = 0; l < group_.locals(); ++l)
    shards.push_back(parameters_
                         .add_shard(name, fulls, dimension,
                                    group_.first_rank() + static_cast<int>(l), group_.ranks())
                         .value);
  return shards;
}

Norm Bert::norm(const std::string& name) {
  return {replicated(name + ".weight", {sizes_.hidden}, Start::kOnes),
          replicated(name + ".bias", {sizes_.hidden}, Start::kZeros)};
}

void Bert::build_embeddings() {
  const bool is_trainable = config_.freeze != "embeddings";
  replicated_.words = replicated("embeddings.word_embeddings.weight", {vocabulary_, sizes_.hidden},
                                 Start::kNormal002, is_trainable);
  replicated_.positions =
      replicated("embeddings.position_embeddings.weight", {sizes_.positions, sizes_.hidden},
                 Start::kNormal002, is_trainable);
  replicated_.types = replicated("embeddings.token_type_embeddings.weight",
                                 {sizes_.types, sizes_.hidden}, Start::kNormal002, is_trainable);
  replicated_.embedding_norm = norm("embeddings.LayerNorm");
}

void Bert::build_layer(std::int64_t index, bool is_compressed) {
  const std::int64_t h = sizes_.hidden, f = sizes_.intermediate;
  const std::string name = "encoder.layer." + std::to_string(index) + ".";
  Layer layer;
  ReplicatedLayer shared;
  std::vector<FullTensor> qkv_weights, qkv_biases;
  for (const char* part : {"query", "key", "value"}) {
    const std::string at = name + "attention.self." + part;
    qkv_weights.push_back(full(at + ".weight", {h, h}, Start::kNormal002));
    qkv_biases.push_back(full(at + ".bias", {h}, Start::kZeros));
  }
  const std::string fused = name + "attention.self.query_key_value";
  layer.qkv_weights = sharded(fused + ".weight", qkv_weights, 0);
  layer.qkv_biases = sharded(fused + ".bias", qkv_biases, 0);
  std::string at = name + "attention.output.dense";
  layer.projection_weights =
      sharded(at + ".weight", {full(at + ".weight", {h, h}, Start::kNormal002)}, 1);
  shared.projection_bias = replicated(at + ".bias", {h}, Start::kZeros);
  shared.attention_norm = norm(name + "attention.output.LayerNorm");
  at = name + "intermediate.dense";
  layer.up_weights = sharded(at + ".weight", {full(at + ".weight", {f, h}, Start::kNormal002)}, 0);
  layer.up_biases = sharded(at + ".bias", {full(at + ".bias", {f}, Start::kZeros)}, 0);
  at = name + "output.dense";
  layer.down_weights =
      sharded(at + ".weight", {full(at + ".weight", {h, f}, Start::kNormal002)}, 1);
  shared.down_bias = replicated(at + ".bias", {h}, Start::kZeros);
  shared.output_norm = norm(name + "output.LayerNorm");
  build_sites(layer, index, is_compressed);
  layers_.push_back(std::move(layer));
  replicated_.layers.push_back(std::move(shared));
}

/// Site ids: 2 * layer for attention, 2 * layer + 1 for the feed-forward, in both directions.
void Bert::build_sites(Layer& layer, std::int64_t index, bool is_compressed) {
  const auto id = static_cast<std::uint16_t>(2 * index);
  const auto next = static_cast<std::uint16_t>(id + 1);
  const std::string name = "layer" + std::to_string(index);
  const auto forward = is_compressed ? codec_ : nullptr;
  const auto backward = is_compressed ? gradient_codec_ : nullptr;
  layer.attention = &group_.add_site("tp", name + ".attention", id, Direction::kForward, forward);
  layer.mlp = &group_.add_site("tp", name + ".mlp", next, Direction::kForward, forward);
  layer.attention_gradient =
      &group_.add_site("tp.backward", name + ".attention", id, Direction::kBackward, backward);
  layer.mlp_gradient =
      &group_.add_site("tp.backward", name + ".mlp", next, Direction::kBackward, backward);
  const std::string full_name = "encoder.layer." + std::to_string(index) + ".";
  layer.attention_bottleneck =
      build_bottleneck(full_name + "attention.output.bottleneck", *layer.attention, id);
  layer.mlp_bottleneck = build_bottleneck(full_name + "output.bottleneck", *layer.mlp, next);
}

std::unique_ptr<Bottleneck> Bert::build_bottleneck(const std::string& name, const Site& site,
                                                   std::uint16_t id) {
  if (!site.codec() || !site.codec()->learned() || !group_.has_codecs()) return nullptr;
  const compressors::LearnedBottleneck learned = *site.codec()->learned();
  const std::vector<std::int64_t> in{sizes_.hidden, learned.dim}, out{learned.dim, sizes_.hidden};
  const FullTensor encoder{name + ".encoder", in,
                           weights_.added(name + ".encoder", in, Start::kXavierUniform)};
  const FullTensor decoder{name + ".decoder", out,
                           weights_.added(name + ".decoder", out, Start::kXavierUniform)};
  auto bottleneck = std::make_unique<Bottleneck>();
  if (learned.per_rank) {
    for (std::size_t l = 0; l < group_.locals(); ++l)
      bottleneck->encoders.push_back(
          parameters_.add_codec(encoder, group_.first_rank() + static_cast<int>(l)).value);
  } else {
    bottleneck->encoders.push_back(parameters_.add_codec(encoder, -1).value);
    bottleneck->gradient_site = &group_.add_site("tp.backward", site.name() + ".encoder", id,
                                                 Direction::kBackward, nullptr);
  }
  bottleneck->decoder = parameters_.add_codec(decoder, -1).value;
  return bottleneck;
}

void Bert::build_head() {
  const std::int64_t h = sizes_.hidden;
  if (config_.pooling == "cls") {
    replicated_.pooler_weight = replicated("pooler.dense.weight", {h, h}, Start::kNormal002);
    replicated_.pooler_bias = replicated("pooler.dense.bias", {h}, Start::kZeros);
  }
  replicated_.classifier_weight =
      replicated("classifier.weight", {outputs_, h}, Start::kNormal002, true, true);
  replicated_.classifier_bias =
      replicated("classifier.bias", {outputs_}, Start::kZeros, true, true);
}

nlohmann::ordered_json Bert::architecture() const {
  return {{"kind", "bert"},
          {"layers", sizes_.layers},
          {"hidden", sizes_.hidden},
          {"heads", sizes_.heads},
          {"intermediate", sizes_.intermediate},
          {"positions", sizes_.positions},
          {"vocabulary", vocabulary_},
          {"layer_norm_epsilon", sizes_.layer_norm_epsilon},
          {"pooling", config_.pooling},
          {"outputs", outputs_},
          {"weights", weights_.has_file() ? "file" : "random"}};
}

std::int64_t Bert::compressed_sites(std::string_view kind) const {
  const auto& codec = kind == "tp" ? codec_ : gradient_codec_;
  if (!group_.has_codecs()) return 0;
  std::int64_t count = 0;
  for (const auto& site : group_.sites()) count += site->codec() == codec.get();
  return count;
}

at::Tensor Bert::drop(const at::Tensor& x, std::uint32_t site) {
  return drop(x, site, {1, x.numel(), x.numel(), 0});
}

at::Tensor Bert::drop(const at::Tensor& x, std::uint32_t site, const Cut& cut) {
  if (config_.dropout == 0.0 || group_.pass.phase == compressors::Phase::kEval) return x;
  const at::Tensor factors = at::empty(x.sizes(), at::kFloat);
  const Stream stream = make_stream(group_.seed(), Purpose::kDropout, group_.pass.step,
                                    site | std::uint32_t{group_.pass.call} << 16);
  dropout_factors(config_.dropout, stream, cut, floats_of(factors));
  return at::mul(x, factors);
}

/// The replicated tensors for each stream. Copies bring their gradients back as sums over ranks.
std::vector<Replicated> Bert::streams() {
  if (!is_split()) return {replicated_};
  std::vector<Replicated> copies(group_.locals(), replicated_);
  std::vector<std::vector<at::Tensor>> of_tensor;
  replicated_.for_each([&](at::Tensor& tensor) {
    of_tensor.push_back(tensor.defined()
                            ? replicate(tensor, *replicated_gradients_, group_.locals())
                            : Streams(group_.locals()));
  });
  for (std::size_t l = 0; l < copies.size(); ++l) {
    std::size_t next = 0;
    copies[l].for_each([&](at::Tensor& tensor) { tensor = of_tensor[next++][l]; });
  }
  return copies;
}

at::Tensor Bert::embed(const datasets::Batch& batch, const Replicated& at) {
  const std::array<std::int64_t, 2> shape{batch.rows, batch.sequence};
  at::Tensor x = at::add(at::embedding(at.words, borrow(batch.ids, shape)),
                         at::embedding(at.types, borrow(batch.types, shape)));
  x = at::add(x, at.positions.narrow(0, 0, batch.sequence));
  return drop(normalize(x.view({batch.rows * batch.sequence, sizes_.hidden}), at.embedding_norm),
              kEmbeddingDropout);
}

/// Softmax over the real tokens of one local rank's heads; qkv is {rows, 3 * heads * width}.
at::Tensor Bert::attend(const at::Tensor& qkv, std::int64_t layer, std::size_t local,
                        const at::Tensor& mask, const Shape& message) {
  const std::int64_t heads = sizes_.heads / group_.ranks();
  const std::int64_t width = sizes_.hidden / sizes_.heads;
  const std::int64_t b = message.samples, s = message.tokens;
  const at::Tensor split = qkv.view({b, s, 3, heads, width})
                               .permute({2, 0, 3, 1, 4})
                               .contiguous()
                               .view({3, b * heads, s, width});
  const at::Tensor bias = mask.expand({b, heads, s}).reshape({b * heads, 1, s});
  at::Tensor scores = at::baddbmm(bias, split.select(0, 0), split.select(0, 1).transpose(1, 2), 1.0,
                                  1.0 / std::sqrt(static_cast<double>(width)));
  const std::int64_t cell = s * s;
  at::Tensor probabilities =
      drop(at::softmax(scores, -1), static_cast<std::uint32_t>(4 * layer) + kProbabilities,
           {b, heads * cell, sizes_.heads * cell,
            (group_.first_rank() + static_cast<std::int64_t>(local)) * heads * cell});
  return at::bmm(probabilities, split.select(0, 2))
      .view({b, heads, s, width})
      .permute({0, 2, 1, 3})
      .reshape({b * s, heads * width});
}

Streams Bert::attention(std::size_t index, const Streams& xs, const std::vector<Replicated>& at,
                        const at::Tensor& mask, const Shape& message) {
  const Layer& layer = layers_[index];
  const bool can_overlap = config_.overlap == "on";
  Streams parts = is_split() ? split_column_parallel(xs, layer.qkv_weights, layer.qkv_biases)
                             : column_parallel(xs[0], layer.qkv_weights, layer.qkv_biases,
                                               *layer.attention_gradient, message, can_overlap);
  for (std::size_t l = 0; l < parts.size(); ++l)
    parts[l] = attend(parts[l], static_cast<std::int64_t>(index), l, mask, message);
  const Streams biases = biases_of(at, index, &ReplicatedLayer::projection_bias);
  if (is_split())
    return split_row_parallel(parts, layer.projection_weights, biases, *layer.attention,
                              *layer.attention_gradient, message);
  return {row_parallel(parts, layer.projection_weights, biases[0], *layer.attention, message,
                       layer.attention_bottleneck.get())};
}

Streams Bert::feed_forward(std::size_t index, const Streams& xs, const std::vector<Replicated>& at,
                           const Shape& message) {
  const Layer& layer = layers_[index];
  const bool can_overlap = config_.overlap == "on";
  Streams parts = is_split() ? split_column_parallel(xs, layer.up_weights, layer.up_biases)
                             : column_parallel(xs[0], layer.up_weights, layer.up_biases,
                                               *layer.mlp_gradient, message, can_overlap);
  for (at::Tensor& part : parts) part = at::gelu(part);
  const Streams biases = biases_of(at, index, &ReplicatedLayer::down_bias);
  if (is_split())
    return split_row_parallel(parts, layer.down_weights, biases, *layer.mlp, *layer.mlp_gradient,
                              message);
  return {row_parallel(parts, layer.down_weights, biases[0], *layer.mlp, message,
                       layer.mlp_bottleneck.get())};
}

void Bert::add_and_normalize(Streams& xs, const Streams& ys, std::uint32_t dropout_site,
                             const std::vector<Replicated>& at, std::size_t layer,
                             Norm ReplicatedLayer::*norm) {
  for (std::size_t s = 0; s < xs.size(); ++s)
    xs[s] = normalize(at::add(xs[s], drop(ys[s], dropout_site)), at[s].layers[layer].*norm);
}

Streams Bert::hidden_states(const datasets::Batch& batch, const std::vector<Replicated>& at) {
  const Shape message{batch.rows, batch.sequence, sizes_.hidden};
  const at::Tensor mask = at::empty({batch.rows, 1, batch.sequence}, at::kFloat);
  const std::span<float> blocked = floats_of(mask);
  for (std::size_t i = 0; i < blocked.size(); ++i)
    blocked[i] = batch.mask[i] ? 0.0f : std::numeric_limits<float>::lowest();
  Streams xs;
  for (const Replicated& one : at) xs.push_back(embed(batch, one));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto site = static_cast<std::uint32_t>(4 * i);
    add_and_normalize(xs, attention(i, xs, at, mask, message), site + kAttentionOutput, at, i,
                      &ReplicatedLayer::attention_norm);
    add_and_normalize(xs, feed_forward(i, xs, at, message), site + kMlpOutput, at, i,
                      &ReplicatedLayer::output_norm);
  }
  return xs;
}

at::Tensor Bert::pool(const at::Tensor& x, const datasets::Batch& batch, const Replicated& at) {
  const at::Tensor states = x.view({batch.rows, batch.sequence, sizes_.hidden});
  if (config_.pooling == "cls")
    return at::tanh(
        at::addmm(at.pooler_bias, states.select(1, 0).contiguous(), at.pooler_weight.t()));
  const at::Tensor shares = at::empty({batch.rows, 1, batch.sequence}, at::kFloat);
  const std::span<float> share = floats_of(shares);
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const auto begin = static_cast<std::size_t>(row * batch.sequence);
    const auto length = static_cast<std::size_t>(batch.sequence);
    float tokens = 0;
    for (std::size_t i = 0; i < length; ++i) tokens += batch.mask[begin + i] ? 1.0f : 0.0f;
    for (std::size_t i = 0; i < length; ++i)
      share[begin + i] = batch.mask[begin + i] ? 1.0f / tokens : 0.0f;
  }
  return at::bmm(shares, states).view({batch.rows, sizes_.hidden});
}

/// Ranks with channels of their own decide together: by the mean of their logits.
at::Tensor Bert::forward(const datasets::Batch& batch) {
  const std::vector<Replicated> at = streams();
  const Streams xs = hidden_states(batch, at);
  Streams logits;
  for (std::size_t s = 0; s < xs.size(); ++s)
    logits.push_back(at::addmm(at[s].classifier_bias, drop(pool(xs[s], batch, at[s]), kHeadDropout),
                               at[s].classifier_weight.t()));
  if (!is_split()) return logits[0];
  return mean_over_ranks(logits, *logits_, {batch.rows, 1, outputs_}, group_.ranks());
}

}  // namespace

std::unique_ptr<Model> make_bert(const BertSizes& sizes, const ModelContext& context) {
  return std::make_unique<Bert>(sizes, context);
}

}  // namespace tersor::workloads
