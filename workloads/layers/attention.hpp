// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "workloads/layers/linear.hpp"

namespace tersor::workloads {

/// What is added to the scores {samples, 1, tokens}: 0 at a real token, the lowest float32 at
/// padding. `mask` has samples * tokens entries.
at::Tensor attention_mask(std::span<const std::int64_t> mask, std::int64_t samples,
                          std::int64_t tokens);

/// Names of an attention's linears in a file of weights; `fused` is what query, key and value are
/// called together.
struct AttentionNames {
  std::string query, key, value, fused, output;
};

/// Multi-head self-attention (Vaswani et al. 2017), with its heads split over the ranks. The output
/// is the message at the layer's attention site.
class ParallelAttention {
 public:
  /// Throws Error(kUsage) where the heads do not split over the ranks.
  ParallelAttention(const LayerScope& scope, const AttentionNames& names, std::int64_t hidden,
                    std::int64_t heads);
  Activations operator()(const Activations& x, const at::Tensor& mask, const Pass& pass) const;

 private:
  ParallelAttention(const LayerScope& scope, const AttentionNames& names, std::int64_t hidden,
                    std::int64_t heads, const SitePair& sites);
  at::Tensor attend(const at::Tensor& qkv, std::size_t local, const at::Tensor& mask,
                    const Shape& shape, const Pass& pass) const;

  const LayerHost& host_;
  std::int64_t layer_;
  std::int64_t heads_;  ///< of all ranks
  ColumnParallelLinear qkv_;
  RowParallelLinear projection_;
};

}  // namespace tersor::workloads
