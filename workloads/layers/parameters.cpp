// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/parameters.hpp"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>

#include "common/error.hpp"
#include "workloads/layers/parameter_counts.hpp"

namespace tersor::workloads {

at::Tensor Parameters::add(Parameter parameter) {
  parameter.value.set_requires_grad(parameter.is_trainable);
  // Shards of the first rank stand for their whole tensors.
  if (!parameter.is_codec && parameter.rank <= 0) {
    std::int64_t elements = 0;
    for (const Piece& piece : parameter.pieces) {
      std::int64_t size = 1;
      for (const std::int64_t length : piece.shape) size *= length;
      elements += size;
    }
    count_ += elements;
    if (parameter.is_trainable) trainable_count_ += elements;
  }
  const auto is_before = [](const Parameter& a, const Parameter& b) {
    return std::pair(a.section, a.is_codec) < std::pair(b.section, b.is_codec);
  };
  const at::Tensor value = parameter.value;
  all_.insert(std::upper_bound(all_.begin(), all_.end(), parameter, is_before), parameter);
  return value;
}

at::Tensor Parameters::add_replicated(std::int64_t section, const FullTensor& full,
                                      bool is_trainable) {
  Parameter parameter;
  parameter.section = section;
  parameter.name = full.name;
  parameter.value = tensor_from(full.values, full.shape);
  parameter.pieces = {{full.name, full.shape, 0, 0, full.shape[0]}};
  parameter.is_trainable = is_trainable;
  return add(std::move(parameter));
}

at::Tensor Parameters::add_shard(std::int64_t section, const std::string& name,
                                 std::span<const FullTensor> fulls, int dimension, int rank,
                                 int ranks) {
  Parameter parameter;
  parameter.section = section;
  parameter.name = name;
  parameter.rank = rank;
  std::vector<at::Tensor> parts;
  for (const FullTensor& full : fulls) {
    const std::int64_t size = full.shape[static_cast<std::size_t>(dimension)];
    TERSOR_CHECK(size % ranks == 0, full.name + " does not split over the ranks");
    const std::int64_t length = size / ranks;
    parameter.pieces.push_back({full.name, full.shape, dimension, rank * length, length});
    parts.push_back(tensor_from(full.values, full.shape).narrow(dimension, rank * length, length));
  }
  parameter.value = at::cat(parts, dimension).contiguous();
  return add(std::move(parameter));
}

at::Tensor Parameters::add_codec(std::int64_t section, const FullTensor& full, int rank) {
  Parameter parameter;
  parameter.section = section;
  parameter.name = full.name;
  parameter.rank = rank;
  parameter.value = tensor_from(full.values, full.shape);
  parameter.pieces = {{full.name, full.shape, 0, 0, full.shape[0]}};
  parameter.is_codec = true;
  return add(std::move(parameter));
}

std::uint64_t Parameters::bytes() const {
  std::uint64_t total = 0;
  for (const Parameter& parameter : all_) total += parameter.value.nbytes();
  return total;
}

ParameterCounts count_parameters(const Parameters& parameters) {
  return {parameters.count(), parameters.trainable_count(), parameters.bytes()};
}

}  // namespace tersor::workloads
