// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "common/philox.hpp"
#include "workloads/layers/activations.hpp"
#include "workloads/layers/builder.hpp"

namespace tersor::workloads {

/// A rank's part of a tensor {outer, whole}: columns [begin, begin + part).
struct Cut {
  std::int64_t outer = 1;
  std::int64_t part = 1;
  std::int64_t whole = 1;
  std::int64_t begin = 0;
};

/// Factors of dropout for a rank's part: 0 where the element's 32-bit draw is below rate * 2^32,
/// else 1 / (1 - rate). The element is the index in the whole tensor, so the tensor-parallel degree
/// does not matter. `out` has outer * part values.
void dropout_factors(double rate, const Stream& stream, const Cut& cut, std::span<float> out);

/// Numbers of dropouts in random streams: four a layer, counted in the whole model. Throw
/// Error(kUsage) where 16 bits do not hold them.
std::uint32_t attention_output_dropout(std::int64_t layer);
std::uint32_t mlp_output_dropout(std::int64_t layer);
std::uint32_t probability_dropout(std::int64_t layer);
inline constexpr std::uint32_t kEmbeddingDropout = 0xFFFE;
inline constexpr std::uint32_t kHeadDropout = 0xFFFF;

/// x with some elements 0, in training; `cut` says which part of the whole tensor it is.
at::Tensor drop(const LayerHost& host, const at::Tensor& x, std::uint32_t number, const Cut& cut,
                const PassContext& pass);

/// Dropout (Srivastava et al. 2014) of activations that all ranks have whole.
class Dropout {
 public:
  Dropout(const LayerScope& scope, std::uint32_t number) : host_(scope.host()), number_(number) {}
  Activations operator()(const Activations& x, const Pass& pass) const;

 private:
  const LayerHost& host_;
  std::uint32_t number_;
};

}  // namespace tersor::workloads
