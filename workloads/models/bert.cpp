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
#include <vector>

#include "workloads/layers/dropout.hpp"
#include "workloads/layers/operators.hpp"
#include "workloads/models/bert_model.hpp"

namespace tersor::workloads {
namespace {

/// Dropout sites of the stream's c2: four a layer, the embeddings and the head above all of them.
enum DropoutPlace : std::uint32_t { kAttentionOutput = 0, kMlpOutput = 1, kProbabilities = 2 };
constexpr std::uint32_t kEmbeddingDropout = 0xFFFE;
constexpr std::uint32_t kHeadDropout = 0xFFFF;

/// A copy: the backward may come when the batch is gone.
at::Tensor indices(const std::vector<std::int64_t>& values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<std::int64_t*>(values.data()), shape, at::kLong).clone();
}

}  // namespace

at::Tensor Bert::normalize(const at::Tensor& x, const Norm& norm) {
  return at::layer_norm(x, {sizes_.hidden}, norm.weight, norm.bias, sizes_.layer_norm_epsilon);
}

at::Tensor Bert::drop(const Pass& pass, const at::Tensor& x, std::uint32_t site) {
  return drop(pass, x, site, {1, x.numel(), x.numel(), 0});
}

at::Tensor Bert::drop(const Pass& pass, const at::Tensor& x, std::uint32_t site, const Cut& cut) {
  if (config_.model.dropout == 0.0 || pass->phase == compressors::Phase::kEval) return x;
  const at::Tensor factors = at::empty(x.sizes(), at::kFloat);
  const Stream stream = make_stream(group_.seed(), Purpose::kDropout, pass->step,
                                    site | std::uint32_t{pass->call} << 16);
  dropout_factors(config_.model.dropout, stream, cut, floats_of(factors));
  return at::mul(x, factors);
}

/// The replicated tensors for each stream. Copies bring their gradients back as sums over ranks.
std::vector<Replicated> Bert::streams(const Pass& pass) {
  if (!is_split(pass)) return {replicated_};
  std::vector<Replicated> copies(group_.locals(), replicated_);
  std::vector<std::vector<at::Tensor>> of_tensor;
  replicated_.for_each([&](at::Tensor& tensor) {
    of_tensor.push_back(tensor.defined()
                            ? replicate(pass, tensor, *replicated_gradients_, group_.locals())
                            : Streams(group_.locals()));
  });
  for (std::size_t l = 0; l < copies.size(); ++l) {
    std::size_t next = 0;
    copies[l].for_each([&](at::Tensor& tensor) { tensor = of_tensor[next++][l]; });
  }
  return copies;
}

at::Tensor Bert::embed(const Pass& pass, const datasets::Batch& batch, const Replicated& at) {
  const std::array<std::int64_t, 2> shape{batch.rows, batch.sequence};
  at::Tensor x = at::add(at::embedding(at.words, indices(batch.ids, shape)),
                         at::embedding(at.types, indices(batch.types, shape)));
  x = at::add(x, at.positions.narrow(0, 0, batch.sequence));
  return drop(pass,
              normalize(x.view({batch.rows * batch.sequence, sizes_.hidden}), at.embedding_norm),
              kEmbeddingDropout);
}

/// Softmax over the real tokens of one local rank's heads; qkv is {rows, 3 * heads * width}.
at::Tensor Bert::attend(const Pass& pass, const at::Tensor& qkv, std::int64_t layer,
                        std::size_t local, const at::Tensor& mask, const Shape& message) {
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
      drop(pass, at::softmax(scores, -1), static_cast<std::uint32_t>(4 * layer) + kProbabilities,
           {b, heads * cell, sizes_.heads * cell,
            (group_.first_rank() + static_cast<std::int64_t>(local)) * heads * cell});
  return at::bmm(probabilities, split.select(0, 2))
      .view({b, heads, s, width})
      .permute({0, 2, 1, 3})
      .reshape({b * s, heads * width});
}

Streams Bert::attention(const Pass& pass, std::size_t index, const Streams& xs,
                        const std::vector<Replicated>& at, const at::Tensor& mask,
                        const Shape& message) {
  const Layer& layer = layers_[index];
  const bool can_overlap = config_.parallelism.overlap == "on";
  Streams parts = is_split(pass) ? split_column_parallel(xs, layer.qkv_weights, layer.qkv_biases)
                                 : column_parallel(pass, xs[0], layer.qkv_weights, layer.qkv_biases,
                                                   *layer.attention_gradient, message, can_overlap);
  for (std::size_t l = 0; l < parts.size(); ++l)
    parts[l] = attend(pass, parts[l], static_cast<std::int64_t>(index), l, mask, message);
  const Streams biases = biases_of(at, index, &ReplicatedLayer::projection_bias);
  if (is_split(pass))
    return split_row_parallel(pass, parts, layer.projection_weights, biases, *layer.attention,
                              *layer.attention_gradient, message);
  return {row_parallel(pass, parts, layer.projection_weights, biases[0], *layer.attention, message,
                       layer.attention_bottleneck.get())};
}

Streams Bert::feed_forward(const Pass& pass, std::size_t index, const Streams& xs,
                           const std::vector<Replicated>& at, const Shape& message) {
  const Layer& layer = layers_[index];
  const bool can_overlap = config_.parallelism.overlap == "on";
  Streams parts = is_split(pass) ? split_column_parallel(xs, layer.up_weights, layer.up_biases)
                                 : column_parallel(pass, xs[0], layer.up_weights, layer.up_biases,
                                                   *layer.mlp_gradient, message, can_overlap);
  for (at::Tensor& part : parts) part = at::gelu(part);
  const Streams biases = biases_of(at, index, &ReplicatedLayer::down_bias);
  if (is_split(pass))
    return split_row_parallel(pass, parts, layer.down_weights, biases, *layer.mlp,
                              *layer.mlp_gradient, message);
  return {row_parallel(pass, parts, layer.down_weights, biases[0], *layer.mlp, message,
                       layer.mlp_bottleneck.get())};
}

void Bert::add_and_normalize(const Pass& pass, Streams& xs, const Streams& ys,
                             std::uint32_t dropout_site, const std::vector<Replicated>& at,
                             std::size_t layer, Norm ReplicatedLayer::*norm) {
  for (std::size_t s = 0; s < xs.size(); ++s)
    xs[s] = normalize(at::add(xs[s], drop(pass, ys[s], dropout_site)), at[s].layers[layer].*norm);
}

Streams Bert::hidden_states(const Pass& pass, const datasets::Batch& batch,
                            const std::vector<Replicated>& at) {
  const Shape message{batch.rows, batch.sequence, sizes_.hidden};
  const at::Tensor mask = at::empty({batch.rows, 1, batch.sequence}, at::kFloat);
  const std::span<float> blocked = floats_of(mask);
  for (std::size_t i = 0; i < blocked.size(); ++i)
    blocked[i] = batch.mask[i] ? 0.0f : std::numeric_limits<float>::lowest();
  Streams xs;
  for (const Replicated& one : at) xs.push_back(embed(pass, batch, one));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto site = static_cast<std::uint32_t>(4 * i);
    add_and_normalize(pass, xs, attention(pass, i, xs, at, mask, message), site + kAttentionOutput,
                      at, i, &ReplicatedLayer::attention_norm);
    add_and_normalize(pass, xs, feed_forward(pass, i, xs, at, message), site + kMlpOutput, at, i,
                      &ReplicatedLayer::output_norm);
  }
  return xs;
}

at::Tensor Bert::pool(const at::Tensor& x, const datasets::Batch& batch, const Replicated& at) {
  const at::Tensor states = x.view({batch.rows, batch.sequence, sizes_.hidden});
  if (config_.model.pooling == "cls")
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
at::Tensor Bert::forward(const datasets::Batch& batch, const Pass& pass) {
  const std::vector<Replicated> at = streams(pass);
  const Streams xs = hidden_states(pass, batch, at);
  Streams logits;
  for (std::size_t s = 0; s < xs.size(); ++s)
    logits.push_back(at::addmm(at[s].classifier_bias,
                               drop(pass, pool(xs[s], batch, at[s]), kHeadDropout),
                               at[s].classifier_weight.t()));
  if (!is_split(pass)) return logits[0];
  return mean_over_ranks(pass, logits, *logits_, {batch.rows, 1, outputs_}, group_.ranks());
}

std::unique_ptr<Model> make_bert(const BertSizes& sizes, const ModelContext& context) {
  return std::make_unique<Bert>(sizes, context);
}

}  // namespace tersor::workloads
