// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "common/philox.hpp"
#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "protocol/cell.hpp"
#include "workloads/layers/parameters.hpp"
#include "workloads/layers/weights.hpp"
#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/models/model.hpp"
#include "workloads/stages/stage_parts.hpp"
#include "workloads/stages/trainer.hpp"

/// Jobs in one process, for tests.
namespace tersor::workloads::testing {

inline constexpr std::int64_t kVocabulary = 120;

inline protocol::Cell make_config(const std::string& spec = "none") {
  protocol::Cell config;
  config.compression.codecs = {{"tp", spec}, {"tp.backward", "none"}};
  config.model.freeze = "none";
  config.data.sequence = 16;
  config.training.micro_batch = 6;
  return config;
}

inline datasets::Batch make_random_batch(std::uint32_t step, std::int64_t rows,
                                         std::int64_t sequence) {
  const Stream stream = make_stream(99, Purpose::kDataOrder, step);
  datasets::Batch batch;
  batch.rows = rows;
  batch.sequence = sequence;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto length =
        static_cast<std::int64_t>(4 + stream.draw32(1000 + static_cast<std::uint64_t>(row)) %
                                          static_cast<std::uint32_t>(sequence - 3));
    for (std::int64_t i = 0; i < sequence; ++i) {
      const bool is_real = i < length;
      const std::uint32_t draw = stream.draw32(static_cast<std::uint64_t>(row * sequence + i));
      batch.ids.push_back(is_real ? 1 + draw % (kVocabulary - 1) : 0);
      batch.types.push_back(is_real && 2 * i >= length);
      batch.mask.push_back(is_real);
    }
    batch.labels.push_back(
        static_cast<float>(batch.ids[static_cast<std::size_t>(row * sequence + 1)] % 2));
    batch.sample_ids.push_back(row);
  }
  return batch;
}

inline std::unique_ptr<Task> make_task() {
  datasets::DatasetInfo info;
  info.classes = 2;
  return find_task(info).make(info);
}

/// A model with its trainer on emulated shards, and random batches for them.
struct Setup {
  Setup(int ranks, protocol::Cell the_config, SumOrder order = SumOrder::kLibrary)
      : Setup(make_emulated_collective(ranks, order), std::move(the_config)) {}
  /// On a grid of `the_config.hardware.pp` stages.
  Setup(std::unique_ptr<Collective> world, protocol::Cell the_config)
      : config(std::move(the_config)),
        mesh(make_mesh(std::move(world), config.hardware.pp)),
        parts(mesh, config, 3, "", kVocabulary, 2),
        group(parts.all().front().group),
        model(parts.all().front().model.get()),
        task(make_task()),
        optimizer(find_optimizer("adamw").make(config.training.weight_decay)),
        trainer(mesh, parts.local(), *task, *optimizer, config) {}
  double train(std::uint32_t step, double rate = 1e-3) {
    return train(make_random_batch(step, config.training.micro_batch, config.data.sequence),
                 make_pass({.step = step}), rate)
        .loss;
  }
  StepResult train(const datasets::Batch& batch, const Pass& pass, double rate = 1e-3) {
    const MicroBatch one{batch, pass};
    return trainer.step(std::span(&one, 1), rate);
  }
  double gradients(const datasets::Batch& batch) {
    const MicroBatch one{batch, make_pass({})};
    return trainer.compute_gradients(std::span(&one, 1));
  }
  double loss(const datasets::Batch& batch) { return evaluate(batch, make_pass({})).loss_sum; }
  TaskScores evaluate(const datasets::Batch& batch, const Pass& pass) {
    TaskScores scores;
    trainer.evaluate(batch, pass, scores);
    trainer.share(scores);
    return scores;
  }
  Parameter* find(const std::string& name) {
    for (StagePart& part : parts.all())
      for (Parameter& parameter : part.model->parameters().all())
        if (parameter.name == name) return &parameter;
    return nullptr;
  }

  static Mesh make_mesh(std::unique_ptr<Collective> world, int pipeline) {
    const int tensor = world->ranks() / pipeline;
    return {std::move(world), tensor, pipeline};
  }

  protocol::Cell config;
  Mesh mesh;
  StageParts parts;
  TensorParallel& group;  ///< of the first stage
  Model* model;           ///< likewise
  std::unique_ptr<Task> task;
  std::unique_ptr<Optimizer> optimizer;
  Trainer trainer;
};

}  // namespace tersor::workloads::testing
