// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/embedding.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/from_blob.h>

#include "common/error.hpp"

namespace tersor::workloads {

Embedding::Embedding(const LayerScope& scope, const std::string& name, std::int64_t rows,
                     std::int64_t width, bool is_trainable)
    : host_(scope.host()),
      table_(scope.replicated(scope.full(name + ".weight", {rows, width}, Start::kNormal002),
                              is_trainable)) {}

Activations Embedding::operator()(const std::vector<std::int64_t>& ids, std::int64_t samples,
                                  std::int64_t tokens, const Pass& pass) const {
  TERSOR_CHECK(static_cast<std::int64_t>(ids.size()) == samples * tokens, "ids of a batch");
  // A copy: the backward may come when the batch is gone.
  const at::Tensor indices =
      at::from_blob(const_cast<std::int64_t*>(ids.data()), {samples, tokens}, at::kLong).clone();
  Activations result{samples, tokens, {}};
  for (const at::Tensor& table : host_.copies(table_, pass))
    result.parts.push_back(at::embedding(table, indices));
  return result;
}

Activations Embedding::first(std::int64_t samples, std::int64_t tokens, const Pass& pass) const {
  return Activations{samples, tokens, host_.copies(table_, pass)}.map(
      [tokens](const at::Tensor& table) { return table.narrow(0, 0, tokens); });
}

}  // namespace tersor::workloads
