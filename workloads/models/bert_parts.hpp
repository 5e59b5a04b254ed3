// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "workloads/comm/tensor.hpp"
#include "workloads/layers/operators.hpp"

/// What Bert holds: its tensors by name.
namespace tersor::workloads {

/// Activations {samples * tokens, hidden}: one for all local ranks, or one for each where ranks
/// keep channels of their own.
using Streams = std::vector<at::Tensor>;

struct Norm {
  at::Tensor weight, bias;
};

/// The replicated tensors of a layer, and of the model: as parameters, or as one rank's copies.
struct ReplicatedLayer {
  at::Tensor projection_bias, down_bias;
  Norm attention_norm, output_norm;
};
struct Replicated {
  at::Tensor words, positions, types;
  Norm embedding_norm;
  std::vector<ReplicatedLayer> layers;
  at::Tensor pooler_weight, pooler_bias, classifier_weight, classifier_bias;

  template <typename Visit>
  void for_each(Visit&& visit) {
    for (at::Tensor* tensor :
         {&words, &positions, &types, &embedding_norm.weight, &embedding_norm.bias, &pooler_weight,
          &pooler_bias, &classifier_weight, &classifier_bias})
      visit(*tensor);
    for (ReplicatedLayer& layer : layers)
      for (at::Tensor* tensor :
           {&layer.projection_bias, &layer.down_bias, &layer.attention_norm.weight,
            &layer.attention_norm.bias, &layer.output_norm.weight, &layer.output_norm.bias})
        visit(*tensor);
  }
};

struct Layer {
  std::vector<at::Tensor> qkv_weights, qkv_biases;  ///< per local rank: {3 hidden / p, hidden}
  std::vector<at::Tensor> projection_weights;       ///< {hidden, hidden / p}
  std::vector<at::Tensor> up_weights, up_biases;    ///< {intermediate / p, hidden}
  std::vector<at::Tensor> down_weights;             ///< {hidden, intermediate / p}
  Site* attention = nullptr;
  Site* mlp = nullptr;
  Site* attention_gradient = nullptr;
  Site* mlp_gradient = nullptr;
  std::unique_ptr<Bottleneck> attention_bottleneck, mlp_bottleneck;
};

/// One bias of a layer, for each stream.
inline Streams biases_of(const std::vector<Replicated>& at, std::size_t layer,
                         at::Tensor ReplicatedLayer::*bias) {
  Streams biases;
  for (const Replicated& one : at) biases.push_back(one.layers[layer].*bias);
  return biases;
}

}  // namespace tersor::workloads
