// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/bert_model.hpp"

#include "common/error.hpp"
#include "workloads/layers/layer_set.hpp"
#include "workloads/messages/site_numbers.hpp"

namespace tersor::workloads {
namespace {

using compressors::Direction;

std::shared_ptr<const compressors::Codec> codec_at(const protocol::Cell& config,
                                                   const std::string& site) {
  const auto found = config.compression.codecs.find(site);
  return compressors::make_codec(found == config.compression.codecs.end() ? "none" : found->second);
}

}  // namespace

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
  const std::vector<bool> chosen = parse_layers(config_.compression.layers, sizes_.layers);
  build_embeddings();
  for (std::int64_t i = 0; i < sizes_.layers; ++i)
    build_layer(i, chosen[static_cast<std::size_t>(i)]);
  build_head();
  keeps_channels_ = codec_->summed_hidden({1, 1, sizes_.hidden}) < sizes_.hidden;
  if (!keeps_channels_) return;
  replicated_gradients_ =
      &group_.add_site({"tp.backward", "replicated", 0, Direction::kBackward}, nullptr);
  logits_ = &group_.add_site({"tp", "logits", 0, Direction::kForward}, nullptr);
}

void Bert::check() const {
  const std::int64_t p = group_.ranks();
  if (sizes_.heads % p != 0 || sizes_.intermediate % p != 0)
    throw Error(ErrorKind::kUsage, "hardware.tp " + std::to_string(p) + " does not divide the " +
                                       std::to_string(sizes_.heads) + " attention heads of " +
                                       config_.model.name);
  if (config_.data.sequence > sizes_.positions)
    throw Error(ErrorKind::kUsage, "sequence " + std::to_string(config_.data.sequence) +
                                       " is above " + config_.model.name + "'s " +
                                       std::to_string(sizes_.positions) + " positions");
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
  const bool is_trainable = config_.model.freeze != "embeddings";
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

void Bert::build_sites(Layer& layer, std::int64_t index, bool is_compressed) {
  const std::uint16_t id = attention_site(index), next = mlp_site(index);
  const std::string name = "layer" + std::to_string(index);
  const auto forward = is_compressed ? codec_ : nullptr;
  const auto backward = is_compressed ? gradient_codec_ : nullptr;
  layer.attention = &group_.add_site({"tp", name + ".attention", id, Direction::kForward}, forward);
  layer.mlp = &group_.add_site({"tp", name + ".mlp", next, Direction::kForward}, forward);
  layer.attention_gradient =
      &group_.add_site({"tp.backward", name + ".attention", id, Direction::kBackward}, backward);
  layer.mlp_gradient =
      &group_.add_site({"tp.backward", name + ".mlp", next, Direction::kBackward}, backward);
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
    bottleneck->gradient_site = &group_.add_site(
        {"tp.backward", site.identity().name + ".encoder", id, Direction::kBackward}, nullptr);
  }
  bottleneck->decoder = parameters_.add_codec(decoder, -1).value;
  return bottleneck;
}

void Bert::build_head() {
  const std::int64_t h = sizes_.hidden;
  if (config_.model.pooling == "cls") {
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
          {"pooling", config_.model.pooling},
          {"outputs", outputs_},
          {"weights", weights_.has_file() ? "file" : "random"}};
}

std::int64_t Bert::compressed_sites(std::string_view kind) const {
  return group_.compressed_sites(kind);
}

}  // namespace tersor::workloads
