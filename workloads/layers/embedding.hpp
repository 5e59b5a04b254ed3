// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/layers/activations.hpp"
#include "workloads/layers/builder.hpp"

namespace tersor::workloads {

/// A table NAME.weight {rows, width}, the same on every rank.
class Embedding {
 public:
  Embedding(const LayerScope& scope, const std::string& name, std::int64_t rows, std::int64_t width,
            bool is_trainable);
  /// The rows of `ids`, samples * tokens of them: {samples, tokens, width}. Copies the ids.
  Activations operator()(const std::vector<std::int64_t>& ids, std::int64_t samples,
                         std::int64_t tokens, const Pass& pass) const;
  /// The first rows {tokens, width}, for each sample alike.
  Activations first(std::int64_t samples, std::int64_t tokens, const Pass& pass) const;

 private:
  const LayerHost& host_;
  at::Tensor table_;
};

}  // namespace tersor::workloads
