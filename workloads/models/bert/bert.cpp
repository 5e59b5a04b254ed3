// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al. 2019): an encoder with normalisation behind each residual and GELU by the
// error function, and a head. Parameters have Hugging Face's names.
#include <ATen/ops/gelu.h>
#include <ATen/ops/tanh.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/error.hpp"
#include "datasets/batches.hpp"
#include "workloads/layers/attention.hpp"
#include "workloads/layers/dropout.hpp"
#include "workloads/layers/embedding.hpp"
#include "workloads/layers/mlp.hpp"
#include "workloads/layers/norm.hpp"
#include "workloads/layers/pooling.hpp"
#include "workloads/models/architecture.hpp"

namespace tersor::workloads {
namespace {

constexpr double kEpsilon = 1e-12;

struct Block {
  Block(const LayerScope& scope, const std::string& at, const ModelManifest& sizes)
      : attention(scope,
                  {.query = at + "attention.self.query",
                   .key = at + "attention.self.key",
                   .value = at + "attention.self.value",
                   .fused = at + "attention.self.query_key_value",
                   .output = at + "attention.output.dense"},
                  sizes.number("hidden"), sizes.number("heads")),
        attention_dropout(scope, attention_output_dropout(scope.layer())),
        attention_norm(scope, at + "attention.output.LayerNorm", sizes.number("hidden"), kEpsilon),
        mlp(scope, at + "intermediate.dense", at + "output.dense", sizes.number("hidden"),
            sizes.number("intermediate"), [](const at::Tensor& x) { return at::gelu(x); }),
        mlp_dropout(scope, mlp_output_dropout(scope.layer())),
        output_norm(scope, at + "output.LayerNorm", sizes.number("hidden"), kEpsilon) {}

  Activations operator()(const Activations& x, const at::Tensor& mask, const Pass& pass) const {
    const Activations y =
        attention_norm(x + attention_dropout(attention(x, mask, pass), pass), pass);
    return output_norm(y + mlp_dropout(mlp(y, pass), pass), pass);
  }

  ParallelAttention attention;
  Dropout attention_dropout;
  LayerNorm attention_norm;
  ParallelMlp mlp;
  Dropout mlp_dropout;
  LayerNorm output_norm;
};

class Bert final : public LayerModel {
 public:
  Bert(const ModelManifest& sizes, const ModelContext& context)
      : LayerModel(context, sizes.number("layers"), sizes.number("hidden")),
        sizes_(sizes),
        config_(context.config),
        outputs_(context.outputs),
        vocabulary_(builder().vocabulary("embeddings.word_embeddings.weight")),
        words_(table("word", vocabulary_)),
        positions_(table("position", sizes.number("positions"))),
        types_(table("token_type", sizes.number("types"))),
        norm_(builder().embeddings(), "embeddings.LayerNorm", hidden(), kEpsilon),
        dropout_(builder().embeddings(), kEmbeddingDropout) {
    if (config_.data.sequence > sizes.number("positions"))
      throw Error(ErrorKind::kUsage, "sequence " + std::to_string(config_.data.sequence) +
                                         " is above " + sizes.name + "'s " +
                                         std::to_string(sizes.number("positions")) + " positions");
    for (std::int64_t i = 0; i < sizes.number("layers"); ++i)
      blocks_.emplace_back(builder().block(i), "encoder.layer." + std::to_string(i) + ".", sizes);
    const LayerScope head = builder().head();
    if (config_.model.pooling == "cls") pooler_.emplace(head, "pooler.dense", hidden(), hidden());
    head_dropout_.emplace(head, kHeadDropout);
    classifier_.emplace(head, "classifier", hidden(), outputs_, true);
    output_.emplace(head);
  }

  at::Tensor forward(const datasets::Batch& batch, const Pass& pass) override {
    const Activations x = (*head_dropout_)(pool(run(batch, pass), batch, pass), pass);
    return (*output_)((*classifier_)(x, pass), pass);
  }
  at::Tensor encode(const datasets::Batch& batch, const Pass& pass) override {
    return run(batch, pass).parts[0].view({batch.rows, batch.sequence, hidden()});
  }
  at::Tensor pooled(const datasets::Batch& batch, const Pass& pass) override {
    return pool(run(batch, pass), batch, pass).parts[0];
  }

  nlohmann::ordered_json architecture() const override {
    return {{"kind", "bert"},
            {"layers", sizes_.number("layers")},
            {"hidden", hidden()},
            {"heads", sizes_.number("heads")},
            {"intermediate", sizes_.number("intermediate")},
            {"positions", sizes_.number("positions")},
            {"vocabulary", vocabulary_},
            {"layer_norm_epsilon", kEpsilon},
            {"pooling", config_.model.pooling},
            {"outputs", outputs_},
            {"weights", has_weights() ? "file" : "random"}};
  }

 private:
  Embedding table(const std::string& of, std::int64_t rows) {
    return {builder().embeddings(), "embeddings." + of + "_embeddings", rows, hidden(),
            config_.model.freeze != "embeddings"};
  }

  /// The last hidden states.
  Activations run(const datasets::Batch& batch, const Pass& pass) const {
    const std::int64_t rows = batch.rows, tokens = batch.sequence;
    const at::Tensor mask = attention_mask(batch.mask, rows, tokens);
    Activations x = words_(batch.ids, rows, tokens, pass) + types_(batch.types, rows, tokens, pass);
    x = dropout_(norm_((x + positions_.first(rows, tokens, pass)).flat(), pass), pass);
    for (const Block& block : blocks_) x = block(x, mask, pass);
    return x;
  }

  Activations pool(const Activations& x, const datasets::Batch& batch, const Pass& pass) const {
    if (!pooler_) return mean_over_tokens(x, batch.mask);
    return (*pooler_)(first_token(x), pass).map([](const at::Tensor& y) { return at::tanh(y); });
  }

  ModelManifest sizes_;
  protocol::Cell config_;
  std::int64_t outputs_, vocabulary_;
  Embedding words_, positions_, types_;
  LayerNorm norm_;
  Dropout dropout_;
  std::deque<Block> blocks_;
  std::optional<Linear> pooler_, classifier_;
  std::optional<Dropout> head_dropout_;
  std::optional<Output> output_;
};

const ModelRegistrar kRegistrar({"bert",
                                 [](const ModelManifest& sizes, const ModelContext& context) {
                                   return std::make_unique<Bert>(sizes, context);
                                 }});

}  // namespace
}  // namespace tersor::workloads
