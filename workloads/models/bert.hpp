// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>

#include "workloads/models/model.hpp"

namespace tersor::workloads {

/// Sizes of a BERT encoder (Devlin et al. 2019): post-LayerNorm, GELU by the error function.
struct BertSizes {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t intermediate = 0;
  std::int64_t positions = 512;
  std::int64_t types = 2;
  double layer_norm_epsilon = 1e-12;
};

/// Encoder and head with Hugging Face's parameter names. Pooling `mean`: mean over real tokens,
/// then `classifier`; `cls`: `pooler.dense`, tanh, `classifier`. Heads and feed-forward are split
/// over ranks; throws Error(kUsage) where they do not divide, or on a vocabulary or length that the
/// tables do not hold.
std::unique_ptr<Model> make_bert(const BertSizes& sizes, const ModelContext& context);

}  // namespace tersor::workloads
