// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/pooling.hpp"

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>

namespace tersor::workloads {
namespace {

at::Tensor by_sample(const Activations& x, const at::Tensor& part) {
  return part.view({x.samples, x.tokens, part.size(-1)});
}

}  // namespace

Activations first_token(const Activations& x) {
  Activations result =
      x.map([&](const at::Tensor& part) { return by_sample(x, part).select(1, 0).contiguous(); });
  result.tokens = 1;
  return result;
}

Activations mean_over_tokens(const Activations& x, std::span<const std::int64_t> mask) {
  const at::Tensor shares = at::empty({x.samples, 1, x.tokens}, at::kFloat);
  const std::span<float> share = floats_of(shares);
  const auto length = static_cast<std::size_t>(x.tokens);
  for (std::size_t begin = 0; begin < share.size(); begin += length) {
    float tokens = 0;
    for (std::size_t i = 0; i < length; ++i) tokens += mask[begin + i] ? 1.0f : 0.0f;
    for (std::size_t i = 0; i < length; ++i)
      share[begin + i] = mask[begin + i] ? 1.0f / tokens : 0.0f;
  }
  Activations result = x.map([&](const at::Tensor& part) {
    return at::bmm(shares, by_sample(x, part)).view({x.samples, part.size(-1)});
  });
  result.tokens = 1;
  return result;
}

}  // namespace tersor::workloads
