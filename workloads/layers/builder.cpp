// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/builder.hpp"

#include "common/error.hpp"
#include "workloads/layers/layer_set.hpp"

namespace tersor::workloads {
namespace {

using compressors::Direction;

std::shared_ptr<const compressors::Codec> codec_at(const protocol::Cell& config,
                                                   const std::string& site) {
  const auto found = config.compression.codecs.find(site);
  return compressors::make_codec(found == config.compression.codecs.end() ? "none" : found->second);
}

}  // namespace

std::vector<at::Tensor> LayerHost::copies(const at::Tensor& parameter, const Pass& pass) const {
  if (!is_split(*pass)) return {parameter};
  return replicate(pass, parameter, *replicated_gradients, group.locals());
}

Builder::Builder(const ModelContext& context, std::int64_t layers, std::int64_t hidden)
    : context_(context),
      layers_(layers),
      part_(context.part.value_or(BlockRange{0, layers})),
      is_compressed_(layers_of(context.config.compression.layers, layers)),
      codec_(codec_at(context.config, "tp")),
      gradient_codec_(codec_at(context.config, "tp.backward")),
      host_{context.group, context.config.model.name, context.config.model.dropout,
            context.config.parallelism.overlap == "on",
            codec_->summed_hidden({1, 1, hidden}) < hidden} {
  if (!host_.keeps_channels) return;
  host_.replicated_gradients =
      &host_.group.add_site({"tp.backward", "replicated", 0, Direction::kBackward}, nullptr);
  host_.outputs = &host_.group.add_site({"tp", "logits", 0, Direction::kForward}, nullptr);
}

LayerScope Builder::block(std::int64_t layer) {
  TERSOR_CHECK(layer >= part_.first && layer < part_.end, "block " + std::to_string(layer));
  return {*this, layer};
}

std::int64_t Builder::vocabulary(const std::string& table) const {
  if (!has_weights()) return context_.vocabulary;
  const std::int64_t rows = context_.weights.rows(table);
  if (context_.vocabulary > rows)
    throw Error(ErrorKind::kUsage, "the vocabulary has " + std::to_string(context_.vocabulary) +
                                       " tokens, the weights' word table " + std::to_string(rows) +
                                       ": give the vocab.txt that belongs to the weights");
  return rows;
}

const LayerHost& LayerScope::host() const { return builder_.host_; }

FullTensor LayerScope::full(const std::string& name, std::vector<std::int64_t> shape, Start start,
                            bool is_fresh) const {
  Weights& weights = builder_.context_.weights;
  std::vector<float> values =
      is_fresh ? weights.fresh(name, shape, start) : weights.take(name, shape, start);
  return {name, std::move(shape), std::move(values)};
}

at::Tensor LayerScope::replicated(const FullTensor& full, bool is_trainable) const {
  return builder_.parameters_.add_replicated(index_, full, is_trainable);
}

std::vector<at::Tensor> LayerScope::sharded(const std::string& name,
                                            const std::vector<FullTensor>& fulls,
                                            int dimension) const {
  const TensorParallel& group = host().group;
  std::vector<at::Tensor> shards;
  for (std::size_t l = 0; l < group.locals(); ++l)
    shards.push_back(builder_.parameters_.add_shard(
        index_, name, fulls, dimension, group.first_rank() + static_cast<int>(l), group.ranks()));
  return shards;
}

SitePair LayerScope::sites(const std::string& part, std::uint16_t number) const {
  const bool is_compressed = builder_.is_compressed_[static_cast<std::size_t>(index_)];
  const std::string name = "layer" + std::to_string(index_) + "." + part;
  TensorParallel& group = host().group;
  Site& forward = group.add_site({"tp", name, number, Direction::kForward},
                                 is_compressed ? builder_.codec_ : nullptr);
  Site& backward = group.add_site({"tp.backward", name, number, Direction::kBackward},
                                  is_compressed ? builder_.gradient_codec_ : nullptr);
  return {forward, backward};
}

std::unique_ptr<Bottleneck> LayerScope::bottleneck(const std::string& name, const Site& site,
                                                   std::int64_t hidden) const {
  TensorParallel& group = host().group;
  if (!site.codec() || !site.codec()->learned() || !group.has_codecs()) return nullptr;
  const compressors::LearnedBottleneck learned = *site.codec()->learned();
  const std::vector<std::int64_t> in{hidden, learned.dim}, out{learned.dim, hidden};
  const Weights& weights = builder_.context_.weights;
  const FullTensor encoder{name + ".encoder", in,
                           weights.added(name + ".encoder", in, Start::kXavierUniform)};
  const FullTensor decoder{name + ".decoder", out,
                           weights.added(name + ".decoder", out, Start::kXavierUniform)};
  Parameters& parameters = builder_.parameters_;
  auto bottleneck = std::make_unique<Bottleneck>();
  if (learned.per_rank) {
    for (std::size_t l = 0; l < group.locals(); ++l)
      bottleneck->encoders.push_back(
          parameters.add_codec(index_, encoder, group.first_rank() + static_cast<int>(l)));
  } else {
    bottleneck->encoders.push_back(parameters.add_codec(index_, encoder, -1));
    const SiteIdentity& at = site.identity();
    bottleneck->gradient_site = &group.add_site(
        {"tp.backward", at.name + ".encoder", at.number, Direction::kBackward}, nullptr);
  }
  bottleneck->decoder = parameters.add_codec(index_, decoder, -1);
  return bottleneck;
}

}  // namespace tersor::workloads
