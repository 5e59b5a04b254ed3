// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/layers/parameter_counts.hpp"
#include "workloads/layers/weights.hpp"
#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/stages/trainer.hpp"

namespace tersor::workloads {

/// One stage of a job's pipeline, with all that it owns.
struct StagePart {
  /// Throws as make_model does.
  StagePart(Mesh& mesh, int stage, const BlockRange& blocks, std::int64_t all_blocks,
            const protocol::Cell& cell, std::uint64_t seed, const std::string& weights_file,
            std::int64_t vocabulary, std::int64_t outputs);

  StagePart(const StagePart&) = delete;
  StagePart& operator=(const StagePart&) = delete;
  ~StagePart();

  /// Sites of this kind that are compressed.
  std::int64_t compressed_sites(std::string_view kind) const;
  std::uint64_t codec_state_bytes() const;

  int stage;
  TensorParallel group;
  Weights weights;
  std::unique_ptr<Model> model;
  std::unique_ptr<StageBoundaries> boundaries;
};

/// What is known of the whole model.
struct ModelFacts {
  ParameterCounts counts;  ///< `bytes` are this process's
  std::string start_hash;  ///< of the weights that it starts from, 16 hex digits
};

/// The stages that this process hosts. Every process makes it together.
class StageParts {
 public:
  /// `weights_file` empty: random weights. Throws Error(kUsage) where the cell's partition does not
  /// fit the model.
  StageParts(Mesh& mesh, const protocol::Cell& cell, std::uint64_t seed,
             const std::string& weights_file, std::int64_t vocabulary, std::int64_t outputs);

  std::vector<LocalStage> local();
  std::deque<StagePart>& all() { return parts_; }
  const std::deque<StagePart>& all() const { return parts_; }
  /// All ranks call it together.
  ModelFacts facts();

 private:
  Mesh& mesh_;
  std::deque<StagePart> parts_;
};

}  // namespace tersor::workloads
