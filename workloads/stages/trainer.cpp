// SPDX-License-Identifier: Apache-2.0
#include "workloads/stages/trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mul.h>

#include <algorithm>
#include <cmath>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/hash.hpp"
#include "workloads/comm/gather.hpp"
#include "workloads/layers/parameters.hpp"
#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/optim/adamw.hpp"
#include "workloads/pipeline/pipeline.hpp"

namespace tersor::workloads {
namespace {

std::span<const float> gradient_of(const Parameter& parameter) {
  at::Tensor& gradient = parameter.value.mutable_grad();
  if (!gradient.is_contiguous()) gradient = gradient.contiguous();
  return floats_of(gradient);
}

}  // namespace

Trainer::Trainer(Mesh& mesh, std::vector<LocalStage> stages, const Task& task, Optimizer& optimizer,
                 const protocol::Cell& cell)
    : mesh_(mesh),
      stages_(std::move(stages)),
      task_(task),
      optimizer_(optimizer),
      clip_(cell.training.clip),
      schedule_(find_pipeline_schedule(cell.parallelism.schedule)),
      pipeline_(std::make_unique<Pipeline>(programs(), mesh.pipeline(),
                                           cell.parallelism.overlap == "on")) {}

Trainer::~Trainer() = default;

std::vector<StageProgram> Trainer::programs() {
  std::vector<StageProgram> programs;
  for (LocalStage& at : stages_)
    programs.push_back(
        {.stage = at.stage,
         .boundaries = at.boundaries,
         .ledger = at.group.ledger(),
         .forward = [this, &at](std::int64_t micro_batch,
                                const Activations& in) { return forward(at, micro_batch, in); },
         .in_shape =
             [this, &at](std::int64_t micro_batch) {
               const auto& batch = micro_batches_[static_cast<std::size_t>(micro_batch)].batch;
               return Shape{batch.rows, batch.sequence, at.model.hidden()};
             },
         .parts = [&at](const PassContext& pass) { return at.model.parts(pass); }});
  return programs;
}

/// What a stage does with a micro-batch; behind the last block, the task. In training the last
/// stage gives the loss; in an evaluation the model's output.
Activations Trainer::forward(const LocalStage& at, std::int64_t micro_batch,
                             const Activations& in) {
  const auto& [batch, pass] = micro_batches_[static_cast<std::size_t>(micro_batch)];
  Activations x = at.boundaries.is_first() ? at.model.embed(batch, pass) : in;
  x = at.model.run_blocks(std::move(x), batch, pass);
  if (!at.boundaries.is_last()) return x;
  const at::Tensor output = at.model.head(x, batch, pass);
  if (items_ == 0) return Activations{batch.rows, 1, {output}};
  at::Tensor loss = task_.loss(output, batch);
  const double share = static_cast<double>(task_.items(batch)) / static_cast<double>(items_);
  loss_ += share * static_cast<double>(loss.item<float>());
  if (micro_batches_.size() > 1) loss = at::mul(loss, at::Scalar(share));
  return Activations{1, 1, {loss}};
}

PipelineTimes Trainer::run(std::span<const MicroBatch> micro_batches) {
  std::vector<Pass> passes;
  items_ = 0;
  for (const MicroBatch& micro_batch : micro_batches) {
    passes.push_back(micro_batch.pass);
    items_ += task_.items(micro_batch.batch);
  }
  micro_batches_ = micro_batches;
  loss_ = 0;
  return pipeline_->run(schedule_, passes, [this] { return !std::isfinite(loss_); });
}

/// The norm of the gradients of the whole model, and the loss. Shards' sums are added in rank order
/// in binary64, so emulated and real ranks agree; replicated parameters count once.
Trainer::Sums Trainer::sum_over_ranks() {
  const bool is_pipeline = mesh_.pipeline() > 1;
  const std::size_t width = is_pipeline ? 3 : 1;  // shards; replicated; loss
  const auto tensor = static_cast<std::size_t>(mesh_.tensor());
  std::vector<double> locals;
  std::vector<double> replicated;
  for (LocalStage& at : stages_) {
    std::vector<double> shards(at.group.locals(), 0.0);
    double whole = 0;
    for (const Parameter& parameter : at.model.parameters().all()) {
      if (!parameter.value.grad().defined()) continue;
      const double square = squared_norm(gradient_of(parameter));
      if (parameter.is_replicated())
        whole += square;
      else
        shards[static_cast<std::size_t>(parameter.rank - at.group.first_rank())] += square;
    }
    replicated.push_back(whole);
    for (const double shard : shards) {
      locals.push_back(shard);
      if (is_pipeline) locals.insert(locals.end(), {whole, loss_});
    }
  }
  const std::vector<double> all = tersor::workloads::gather<double>(mesh_.world(), locals);
  double total = 0;
  if (!is_pipeline) total = replicated.front();
  for (std::size_t stage = 0; is_pipeline && stage < all.size() / width / tensor; ++stage)
    total += all[stage * tensor * width + 1];
  for (std::size_t rank = 0; rank < all.size() / width; ++rank) total += all[rank * width];
  return {std::sqrt(total), is_pipeline ? all.back() : loss_};
}

void Trainer::update(double learning_rate, float scale) {
  std::size_t index = 0;
  for (LocalStage& at : stages_) {
    for (Parameter& parameter : at.model.parameters().all()) {
      const std::size_t own = index++;
      if (!parameter.value.grad().defined()) continue;
      optimizer_.update({.index = own,
                         .gradient = gradient_of(parameter),
                         .value = floats_of(parameter.value),
                         .is_decayed = parameter.is_matrix()},
                        learning_rate, scale);
      parameter.value.mutable_grad() = at::Tensor();
    }
  }
}

std::int64_t Trainer::excluded_ns() const {
  std::int64_t total = 0;
  for (const LocalStage& at : stages_) total += at.group.ledger().excluded_ns();
  return total;
}

StepResult Trainer::step(std::span<const MicroBatch> micro_batches, double learning_rate) {
  StepResult result;
  for (const LocalStage& at : stages_) at.group.ledger().start_step();
  const std::int64_t start = steady_ns();
  const PipelineTimes times = run(micro_batches);
  result.ns.forward = times.forward;
  result.ns.backward = times.backward;
  result.bubble_ns = times.bubble;
  const std::int64_t after_backward = steady_ns();
  // Where another stage has the loss, nobody knows yet.
  Sums sums{0, loss_};
  if (mesh_.pipeline() > 1 || std::isfinite(loss_)) sums = sum_over_ranks();
  result.loss = sums.loss;
  result.is_finite = std::isfinite(result.loss);
  if (result.is_finite) {
    result.gradient_norm = sums.norm;
    const double scale = clip_ > 0 ? std::min(1.0, clip_ / (result.gradient_norm + 1e-6)) : 1.0;
    update(learning_rate, static_cast<float>(scale));
  }
  const std::int64_t end = steady_ns();
  result.ns.optimizer = end - after_backward;
  result.ns.total = end - start - excluded_ns();
  for (const LocalStage& at : stages_) {
    const Durations& step = at.group.ledger().step();
    result.ns.encode += step.encode;
    result.ns.transfer += step.transfer;
    result.ns.decode += step.decode;
  }
  return result;
}

double Trainer::compute_gradients(std::span<const MicroBatch> micro_batches) {
  run(micro_batches);
  return loss_;
}

void Trainer::evaluate(const datasets::Batch& batch, const Pass& pass, TaskScores& scores) {
  const at::NoGradGuard no_grad;
  const MicroBatch own{batch, pass};
  micro_batches_ = std::span(&own, 1);
  items_ = 0;
  const Activations output = pipeline_->forward(pass);
  if (!output.parts.empty()) task_.score(output.parts[0], batch, scores);
}

bool Trainer::has_last_stage() const { return stages_.back().stage == mesh_.pipeline() - 1; }

void Trainer::share(TaskScores& scores) {
  pipeline_->finish();
  if (mesh_.pipeline() == 1) return;
  // The ranks of the last stage have the same scores: the last rank's are taken.
  const auto locals = static_cast<std::size_t>(mesh_.world().local_ranks());
  std::vector<double> own(4 * locals, 0.0);
  if (has_last_stage())
    for (std::size_t l = 0; l < locals; ++l) {
      own[4 * l] = scores.loss_sum;
      own[4 * l + 1] = static_cast<double>(scores.count);
      own[4 * l + 2] = static_cast<double>(scores.predictions.size());
      own[4 * l + 3] = static_cast<double>(scores.labels.size());
    }
  const std::vector<double> all = tersor::workloads::gather<double>(mesh_.world(), own);
  const auto last = std::span(all).last(4);
  scores.loss_sum = last[0];
  scores.count = static_cast<std::int64_t>(last[1]);
  for (auto [values, count] :
       {std::pair{&scores.predictions, last[2]}, {&scores.labels, last[3]}}) {
    const auto size = static_cast<std::size_t>(count);
    std::vector<double> lists;
    for (std::size_t l = 0; l < locals; ++l) {
      lists.insert(lists.end(), values->begin(), values->end());
      lists.resize((l + 1) * size);
    }
    const std::vector<double> gathered = tersor::workloads::gather<double>(mesh_.world(), lists);
    if (size > 0)
      values->assign(gathered.end() - static_cast<std::ptrdiff_t>(size), gathered.end());
  }
}

std::uint64_t Trainer::replicated_hash() {
  std::vector<std::uint64_t> locals;
  for (const LocalStage& at : stages_) {
    std::uint64_t hash = 0;
    for (const Parameter& parameter : at.model.parameters().all())
      if (parameter.is_replicated()) hash = xxh64(bytes_of(parameter.value), hash);
    locals.insert(locals.end(), at.group.locals(), hash);
  }
  if (mesh_.pipeline() == 1) return locals.front();
  const std::vector<std::uint64_t> all =
      tersor::workloads::gather<std::uint64_t>(mesh_.world(), locals);
  std::vector<std::uint64_t> stages;
  for (int stage = 0; stage < mesh_.pipeline(); ++stage)
    stages.push_back(all[static_cast<std::size_t>(mesh_.rank({0, stage}))]);
  return xxh64(std::as_bytes(std::span(stages)));
}

}  // namespace tersor::workloads
