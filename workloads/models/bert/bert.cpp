// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al. 2019): an encoder with normalisation behind each residual and GELU by the
// error function, and a head. Parameters have Hugging Face's names.
#include <ATen/ops/gelu.h>
#include <ATen/ops/tanh.h>

#include <deque>
#include <optional>

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

struct Embeddings {
  Embeddings(const LayerScope& scope, const ModelManifest& sizes, std::int64_t rows, bool learns)
      : words(scope, "embeddings.word_embeddings", rows, sizes.number("hidden"), learns),
        positions(scope, "embeddings.position_embeddings", sizes.number("positions"),
                  sizes.number("hidden"), learns),
        types(scope, "embeddings.token_type_embeddings", sizes.number("types"),
              sizes.number("hidden"), learns),
        norm(scope, "embeddings.LayerNorm", sizes.number("hidden"), kEpsilon),
        dropout(scope, kEmbeddingDropout) {}

  Activations operator()(const datasets::Batch& batch, const Pass& pass) const {
    const std::int64_t rows = batch.rows, tokens = batch.sequence;
    const Activations x =
        words(batch.ids, rows, tokens, pass) + types(batch.types, rows, tokens, pass);
    return dropout(norm((x + positions.first(rows, tokens, pass)).flat(), pass), pass);
  }

  Embedding words, positions, types;
  LayerNorm norm;
  Dropout dropout;
};

struct Head {
  Head(const LayerScope& scope, bool pools_first, std::int64_t hidden, std::int64_t outputs)
      : pooler(pools_first ? std::make_optional<Linear>(scope, "pooler.dense", hidden, hidden)
                           : std::nullopt),
        dropout(scope, kHeadDropout),
        classifier(scope, "classifier", hidden, outputs, true),
        output(scope) {}

  Activations pool(const Activations& x, const datasets::Batch& batch, const Pass& pass) const {
    if (!pooler) return mean_over_tokens(x, batch.mask);
    return (*pooler)(first_token(x), pass).map([](const at::Tensor& y) { return at::tanh(y); });
  }
  at::Tensor operator()(const Activations& x, const datasets::Batch& batch,
                        const Pass& pass) const {
    return output(classifier(dropout(pool(x, batch, pass), pass), pass), pass);
  }

  std::optional<Linear> pooler;
  Dropout dropout;
  Linear classifier;
  Output output;
};

class Bert final : public LayerModel {
 public:
  Bert(const ModelManifest& sizes, const ModelContext& context)
      : LayerModel(sizes, context),
        pooling_(context.config.model.pooling),
        outputs_(context.outputs),
        vocabulary_(builder().vocabulary("embeddings.word_embeddings.weight")) {
    if (builder().has_embeddings())
      embeddings_.emplace(builder().embeddings(), sizes, vocabulary_,
                          context.config.model.freeze != "embeddings");
    for (std::int64_t i = part().first; i < part().end; ++i)
      blocks_.emplace_back(builder().block(i), "encoder.layer." + std::to_string(i) + ".", sizes);
    if (builder().has_head())
      head_.emplace(builder().head(), pooling_ == "cls", hidden(), outputs_);
  }

  Activations embed(const datasets::Batch& batch, const Pass& pass) override {
    return (*embeddings_)(batch, pass);
  }
  Activations run_blocks(Activations x, const datasets::Batch& batch, const Pass& pass) override {
    const at::Tensor mask = attention_mask(batch.mask, batch.rows, batch.sequence);
    for (const Block& block : blocks_) x = block(x, mask, pass);
    return x;
  }
  at::Tensor head(const Activations& x, const datasets::Batch& batch, const Pass& pass) override {
    return (*head_)(x, batch, pass);
  }
  Activations pool(const Activations& x, const datasets::Batch& batch, const Pass& pass) override {
    return head_->pool(x, batch, pass);
  }

  nlohmann::ordered_json architecture() const override {
    return facts("bert", {"layers", "hidden", "heads", "intermediate", "positions"},
                 {{"vocabulary", vocabulary_},
                  {"layer_norm_epsilon", kEpsilon},
                  {"pooling", pooling_},
                  {"outputs", outputs_}});
  }

 private:
  std::string pooling_;
  std::int64_t outputs_, vocabulary_;
  std::optional<Embeddings> embeddings_;
  std::deque<Block> blocks_;
  std::optional<Head> head_;
};

const ModelRegistrar kRegistrar(architecture_of<Bert>("bert"));

}  // namespace
}  // namespace tersor::workloads
