// SPDX-License-Identifier: Apache-2.0
#include "workloads/stages/stage_parts.hpp"

#include <array>

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/hex.hpp"
#include "workloads/comm/gather.hpp"
#include "workloads/pipeline/partition.hpp"
#include "workloads/pipeline/stage_boundaries.hpp"

namespace tersor::workloads {

StagePart::StagePart(Mesh& mesh, int the_stage, const BlockRange& blocks, std::int64_t all_blocks,
                     const protocol::Cell& cell, std::uint64_t seed,
                     const std::string& weights_file, std::int64_t vocabulary, std::int64_t outputs)
    : stage(the_stage),
      group(mesh.tensor_group(the_stage), seed, cell.compression.loopback, cell.hardware.threads,
            cell.hardware.nodes),
      weights(weights_file, seed),
      model(make_model(cell.model.name, {group, weights, cell, vocabulary, outputs, blocks})),
      boundaries(
          std::make_unique<StageBoundaries>(mesh, the_stage, blocks, all_blocks, group, cell)) {}

StagePart::~StagePart() = default;

std::int64_t StagePart::compressed_sites(std::string_view kind) const {
  return kind.starts_with("pp") ? boundaries->compressed_sites(kind) : group.compressed_sites(kind);
}

std::uint64_t StagePart::codec_state_bytes() const {
  return group.codec_state_bytes() + boundaries->codec_state_bytes();
}

StageParts::StageParts(Mesh& mesh, const protocol::Cell& cell, std::uint64_t seed,
                       const std::string& weights_file, std::int64_t vocabulary,
                       std::int64_t outputs)
    : mesh_(mesh) {
  const std::int64_t blocks = model_blocks(cell.model.name);
  const auto ranges = split_blocks(blocks, mesh.pipeline(), cell.parallelism.partition);
  for (const int stage : mesh.local_stages())
    parts_.emplace_back(mesh, stage, ranges[static_cast<std::size_t>(stage)], blocks, cell, seed,
                        weights_file, vocabulary, outputs);
}

std::vector<LocalStage> StageParts::local() {
  std::vector<LocalStage> stages;
  for (StagePart& part : parts_)
    stages.push_back({part.stage, *part.model, part.group, *part.boundaries});
  return stages;
}

ModelFacts StageParts::facts() {
  ModelFacts facts;
  for (const StagePart& part : parts_)
    facts.counts.bytes += count_parameters(part.model->parameters()).bytes;
  if (mesh_.pipeline() == 1) {
    facts.counts = count_parameters(parts_.front().model->parameters());
    facts.start_hash = parts_.front().weights.hash();
    return facts;
  }
  // The first tensor rank of a stage knows its part of the unsharded model.
  using Row = std::array<std::uint64_t, 3>;
  std::vector<Row> own;
  for (const StagePart& part : parts_) {
    const ParameterCounts counts = count_parameters(part.model->parameters());
    const Row row{static_cast<std::uint64_t>(counts.all),
                  static_cast<std::uint64_t>(counts.trainable), xxh64(part.weights.hash())};
    own.insert(own.end(), part.group.locals(), row);
  }
  const std::vector<Row> all = tersor::workloads::gather<Row>(mesh_.world(), own);
  std::vector<std::uint64_t> hashes;
  for (int stage = 0; stage < mesh_.pipeline(); ++stage) {
    const Row& row = all[static_cast<std::size_t>(mesh_.rank({0, stage}))];
    facts.counts.all += static_cast<std::int64_t>(row[0]);
    facts.counts.trainable += static_cast<std::int64_t>(row[1]);
    hashes.push_back(row[2]);
  }
  facts.start_hash = hex(xxh64(std::as_bytes(std::span(hashes))));
  return facts;
}

}  // namespace tersor::workloads
