// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/attention.hpp"

#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "workloads/layers/dropout.hpp"
#include "workloads/messages/site_numbers.hpp"

namespace tersor::workloads {
namespace {

const LayerScope& check_heads(const LayerScope& scope, std::int64_t heads) {
  const int ranks = scope.host().group.ranks();
  if (heads % ranks != 0)
    throw Error(ErrorKind::kUsage, "hardware.tp " + std::to_string(ranks) +
                                       " does not divide the " + std::to_string(heads) +
                                       " attention heads of " + scope.host().model);
  return scope;
}

}  // namespace

at::Tensor attention_mask(std::span<const std::int64_t> mask, std::int64_t samples,
                          std::int64_t tokens) {
  const at::Tensor added = at::empty({samples, 1, tokens}, at::kFloat);
  const std::span<float> values = floats_of(added);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = mask[i] ? 0.0f : std::numeric_limits<float>::lowest();
  return added;
}

ParallelAttention::ParallelAttention(const LayerScope& scope, const AttentionNames& names,
                                     std::int64_t hidden, std::int64_t heads)
    : ParallelAttention(check_heads(scope, heads), names, hidden, heads,
                        scope.sites("attention", attention_site(scope.layer()))) {}

ParallelAttention::ParallelAttention(const LayerScope& scope, const AttentionNames& names,
                                     std::int64_t hidden, std::int64_t heads, const SitePair& sites)
    : host_(scope.host()),
      layer_(scope.layer()),
      heads_(heads),
      qkv_(scope, names.fused, {names.query, names.key, names.value}, hidden, hidden, sites),
      projection_(scope, names.output, hidden, hidden, sites) {}

Activations ParallelAttention::operator()(const Activations& x, const at::Tensor& mask,
                                          const Pass& pass) const {
  std::vector<at::Tensor> parts = qkv_(x, pass);
  for (std::size_t l = 0; l < parts.size(); ++l)
    parts[l] = attend(parts[l], l, mask, x.shape(), pass);
  return projection_(parts, x.shape(), pass);
}

/// Softmax over the real tokens of one local rank's heads; qkv is {rows, 3 * heads * width}.
at::Tensor ParallelAttention::attend(const at::Tensor& qkv, std::size_t local,
                                     const at::Tensor& mask, const Shape& shape,
                                     const Pass& pass) const {
  const std::int64_t heads = heads_ / host_.group.ranks();
  const std::int64_t width = shape.hidden / heads_;
  const std::int64_t b = shape.samples, s = shape.tokens;
  const at::Tensor split = qkv.view({b, s, 3, heads, width})
                               .permute({2, 0, 3, 1, 4})
                               .contiguous()
                               .view({3, b * heads, s, width});
  const at::Tensor bias = mask.expand({b, heads, s}).reshape({b * heads, 1, s});
  const at::Tensor scores =
      at::baddbmm(bias, split.select(0, 0), split.select(0, 1).transpose(1, 2), 1.0,
                  1.0 / std::sqrt(static_cast<double>(width)));
  const std::int64_t cell = s * s;
  const std::int64_t rank = host_.group.first_rank() + static_cast<std::int64_t>(local);
  const Cut cut{b, heads * cell, heads_ * cell, rank * heads * cell};
  const at::Tensor probabilities =
      drop(host_, at::softmax(scores, -1), probability_dropout(layer_), cut, *pass);
  return at::bmm(probabilities, split.select(0, 2))
      .view({b, heads, s, width})
      .permute({0, 2, 1, 3})
      .reshape({b * s, heads * width});
}

}  // namespace tersor::workloads
