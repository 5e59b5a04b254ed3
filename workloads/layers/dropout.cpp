// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/dropout.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include "common/error.hpp"

namespace tersor::workloads {

void dropout_factors(double rate, const Stream& stream, const Cut& cut, std::span<float> out) {
  TERSOR_CHECK(static_cast<std::int64_t>(out.size()) == cut.outer * cut.part,
               "size of the factors");
  TERSOR_CHECK(rate >= 0 && rate < 1, "a dropout rate is in [0, 1)");
  const auto threshold = static_cast<std::uint64_t>(rate * 0x1p32);
  const auto kept = static_cast<float>(1.0 / (1.0 - rate));
  std::size_t at = 0;
  std::array<std::uint32_t, 4> draws{};
  std::uint64_t block = UINT64_MAX;
  for (std::int64_t o = 0; o < cut.outer; ++o) {
    for (std::int64_t i = 0; i < cut.part; ++i) {
      const auto element = static_cast<std::uint64_t>(o * cut.whole + cut.begin + i);
      if (element / 4 != block) {
        block = element / 4;
        draws = stream.block(static_cast<std::uint32_t>(block));
      }
      out[at++] = draws[element % 4] < threshold ? 0.0f : kept;
    }
  }
}

namespace {

std::uint32_t number_of(std::int64_t layer, std::uint32_t place) {
  constexpr std::int64_t kPerLayer = 4;
  if (layer < 0 || kPerLayer * (layer + 1) > kEmbeddingDropout)
    throw Error(ErrorKind::kUsage, "layer " + std::to_string(layer) +
                                       " has no dropout: streams number them in 16 bits");
  return static_cast<std::uint32_t>(kPerLayer * layer) + place;
}

}  // namespace

std::uint32_t attention_output_dropout(std::int64_t layer) { return number_of(layer, 0); }
std::uint32_t mlp_output_dropout(std::int64_t layer) { return number_of(layer, 1); }
std::uint32_t probability_dropout(std::int64_t layer) { return number_of(layer, 2); }

at::Tensor drop(const LayerHost& host, const at::Tensor& x, std::uint32_t number, const Cut& cut,
                const PassContext& pass) {
  if (host.dropout == 0.0 || pass.phase == compressors::Phase::kEval) return x;
  const at::Tensor factors = at::empty(x.sizes(), at::kFloat);
  const Stream stream = make_stream(host.group.seed(), Purpose::kDropout, pass.step,
                                    number | std::uint32_t{pass.call} << 16);
  dropout_factors(host.dropout, stream, cut, floats_of(factors));
  return at::mul(x, factors);
}

Activations Dropout::operator()(const Activations& x, const Pass& pass) const {
  return x.map([&](const at::Tensor& part) {
    return drop(host_, part, number_, {1, part.numel(), part.numel(), 0}, *pass);
  });
}

}  // namespace tersor::workloads
