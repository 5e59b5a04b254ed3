// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "workloads/comm/tensor.hpp"

namespace tersor::workloads {

/// Rows [begin, begin + length) along `dimension` of a full tensor, as they lie in a parameter.
struct Piece {
  std::string name;                 ///< of the full tensor, Hugging Face's
  std::vector<std::int64_t> shape;  ///< of the full tensor
  int dimension = 0;
  std::int64_t begin = 0;
  std::int64_t length = 0;
};

/// One leaf tensor of this process: a whole replicated tensor, or one rank's shard of one or
/// several (fused) full tensors, whose pieces follow each other along their dimension.
struct Parameter {
  std::string name;
  at::Tensor value;  ///< float32
  std::vector<Piece> pieces;
  int rank = -1;  ///< owner of a shard; -1: replicated
  bool is_trainable = true;
  bool is_codec = false;     ///< belongs to a learned codec
  std::int64_t section = 0;  ///< of the model: before, in or behind its blocks

  bool is_replicated() const { return rank < 0; }
  /// Weight decay is for matrices only.
  bool is_matrix() const { return value.dim() >= 2; }
};

/// A full tensor that a shard is cut from.
struct FullTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// The parameters of a model in this process: by section, a codec's behind the others of their
/// section, then in the order of their creation.
class Parameters {
 public:
  at::Tensor add_replicated(std::int64_t section, const FullTensor& full, bool is_trainable);
  /// The part of rank `rank` of `ranks` equal parts along `dimension`, several tensors fused along
  /// it. Throws Error(kInternal) where the parts are not equal.
  at::Tensor add_shard(std::int64_t section, const std::string& name,
                       std::span<const FullTensor> fulls, int dimension, int rank, int ranks);
  /// The weights of a learned codec: one per rank (`rank` >= 0) or replicated.
  at::Tensor add_codec(std::int64_t section, const FullTensor& full, int rank);

  std::deque<Parameter>& all() { return all_; }
  const std::deque<Parameter>& all() const { return all_; }
  std::uint64_t bytes() const;
  /// Elements of the unsharded model, codec weights excluded; right where rank 0 is hosted.
  std::int64_t count() const { return count_; }
  std::int64_t trainable_count() const { return trainable_count_; }

 private:
  at::Tensor add(Parameter parameter);

  std::deque<Parameter> all_;
  std::int64_t count_ = 0;
  std::int64_t trainable_count_ = 0;
};

}  // namespace tersor::workloads
