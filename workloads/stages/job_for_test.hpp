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
  Setup(std::unique_ptr<Collective> the_collective, protocol::Cell the_config)
      : config(std::move(the_config)),
        collective(std::move(the_collective)),
        group(*collective, 3, config.compression.loopback, 1, config.hardware.nodes),
        weights("", 3),
        model(make_model(config.model.name, {group, weights, config, kVocabulary, 2})),
        task(make_task()),
        optimizer(find_optimizer("adamw").make(config.training.weight_decay)),
        trainer(*model, group, *task, *optimizer, config.training.clip) {}

  double train(std::uint32_t step, double rate = 1e-3) {
    return trainer
        .step(make_random_batch(step, config.training.micro_batch, config.data.sequence),
              make_pass({.step = step}), rate)
        .loss;
  }
  double gradients(const datasets::Batch& batch) {
    return trainer.compute_gradients(batch, make_pass({}));
  }
  double loss(const datasets::Batch& batch) { return evaluate(batch, make_pass({})).loss_sum; }
  TaskScores evaluate(const datasets::Batch& batch, const Pass& pass) {
    TaskScores scores;
    trainer.evaluate(batch, pass, scores);
    return scores;
  }
  Parameter* find(const std::string& name) {
    for (Parameter& parameter : model->parameters().all())
      if (parameter.name == name) return &parameter;
    return nullptr;
  }

  protocol::Cell config;
  std::unique_ptr<Collective> collective;
  TensorParallel group;
  Weights weights;
  std::unique_ptr<Model> model;
  std::unique_ptr<Task> task;
  std::unique_ptr<Optimizer> optimizer;
  Trainer trainer;
};

}  // namespace tersor::workloads::testing
