// SPDX-License-Identifier: Apache-2.0
// Epochs over shuffled rows, an evaluation of the dev split after each.
#include <algorithm>
#include <numeric>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/hex.hpp"
#include "workloads/layers/layer_set.hpp"
#include "workloads/stages/calls.hpp"
#include "workloads/stages/stage.hpp"

namespace tersor::workloads {
namespace {

using compressors::Phase;

/// What the sites of one pass recorded, until it is reported.
struct Samples : MessageRecorder {
  void record(ErrorSample sample) override { errors.push_back(std::move(sample)); }
  void record(StoredMessage message) override { messages.push_back(std::move(message)); }
  std::vector<ErrorSample> errors;
  std::vector<StoredMessage> messages;
};

bool is_due(std::int64_t step, std::int64_t every) { return every > 0 && step % every == 0; }

class FineTune : public Stage {
 public:
  explicit FineTune(const StageContext& context)
      : at_(context),
        training_(context.cell.training),
        trainer_(context.mesh, context.stages, context.task, context.optimizer, context.cell) {
    const std::int64_t rows = at_.train.rows();
    steps_per_epoch_ =
        datasets::training_batches(rows, training_.micro_batch * training_.micro_batches);
    if (steps_per_epoch_ == 0)
      throw Error(ErrorKind::kUsage,
                  "train has " + std::to_string(rows) + " rows, fewer than " +
                      (training_.micro_batches == 1
                           ? "one micro_batch"
                           : std::to_string(training_.micro_batches) + " micro_batches") +
                      " of " + std::to_string(training_.micro_batch));
    check_evaluation_batches(at_.dev.rows(), training_.micro_batch);
    steps_ = training_.epochs * steps_per_epoch_;
    if (training_.max_steps > 0) steps_ = std::min(steps_, training_.max_steps);
    warmup_ = warmup_steps(at_.cell.compression.warmup, steps_per_epoch_);
  }

  std::int64_t steps() const override { return steps_; }
  StageOutcome run() override;

 private:
  bool train_step(std::int64_t step, std::int64_t epoch, std::int64_t place,
                  std::span<const std::int64_t> order);
  /// False where loss or outputs were not finite.
  bool evaluate(std::int64_t epoch, std::int64_t step, bool is_compressed);
  void evaluate(std::int64_t epoch, std::int64_t step, StageOutcome& outcome);

  StageContext at_;
  const protocol::Cell::Training& training_;
  Trainer trainer_;
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t warmup_ = 0;
  std::vector<double> losses_;
};

/// `place` of the step in its epoch, whose rows come in this order.
bool FineTune::train_step(std::int64_t step, std::int64_t epoch, std::int64_t place,
                          std::span<const std::int64_t> order) {
  const auto samples = std::make_shared<Samples>();
  std::vector<MicroBatch> micro_batches;
  for (std::int64_t call = 0; call < training_.micro_batches; ++call) {
    datasets::Batch batch =
        at_.train.batch(order, place * training_.micro_batches + call, training_.micro_batch);
    const Pass pass = make_pass({.phase = Phase::kTrain,
                                 .step = static_cast<std::uint32_t>(step),
                                 .call = pass_call(call),
                                 .compress = step >= warmup_,
                                 .sample_ids = batch.sample_ids,
                                 .samples_errors = call == 0 && is_due(step, at_.error_every),
                                 .stores_messages = call == 0 && is_due(step, at_.messages_every),
                                 .recorder = samples});
    micro_batches.push_back({std::move(batch), pass});
  }
  StepReport report{.step = step, .steps = steps_, .epoch = epoch};
  report.learning_rate =
      at_.schedule.rate(step, steps_, training_.learning_rate_warmup, training_.learning_rate);
  report.result = trainer_.step(micro_batches, report.learning_rate);
  report.errors = std::move(samples->errors);
  report.messages = std::move(samples->messages);
  losses_.push_back(report.result.loss);
  at_.recorder.record(report);
  return report.result.is_finite;
}

bool FineTune::evaluate(std::int64_t epoch, std::int64_t step, bool is_compressed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(at_.dev.rows()));
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t batches = datasets::evaluation_batches(at_.dev.rows(), training_.micro_batch);
  Evaluation evaluation{.epoch = epoch, .step = step, .is_compressed = is_compressed};
  const std::int64_t start = steady_ns();
  for (std::int64_t i = 0; i < batches; ++i) {
    const datasets::Batch batch = at_.dev.batch(order, i, training_.micro_batch);
    trainer_.evaluate(batch,
                      make_pass({.phase = Phase::kEval,
                                 .step = static_cast<std::uint32_t>(step),
                                 .call = pass_call(i),
                                 .compress = is_compressed,
                                 .sample_ids = batch.sample_ids}),
                      evaluation.scores);
  }
  trainer_.share(evaluation.scores);
  evaluation.ns = steady_ns() - start;
  evaluation.loss = evaluation.scores.loss_sum / static_cast<double>(evaluation.scores.count);
  evaluation.metrics = at_.task.metrics(evaluation.scores);
  at_.recorder.record(evaluation);
  return evaluation.scores.is_finite;
}

/// With compression, without, or both, as the cell asks. A model whose last step blew up shows it
/// here alone.
void FineTune::evaluate(std::int64_t epoch, std::int64_t step, StageOutcome& outcome) {
  const std::string& inference = at_.cell.compression.inference;
  std::string where;
  if (inference != "off" && !evaluate(epoch, step, true)) where = "with compression";
  if (inference != "on" && !evaluate(epoch, step, false))
    where += where.empty() ? "without compression" : " and without";
  if (where.empty()) return;
  outcome.is_diverged = true;
  outcome.reason = "loss or outputs of the evaluation after step " + std::to_string(step) +
                   " are not finite, " + where;
}

StageOutcome FineTune::run() {
  StageOutcome outcome;
  std::int64_t step = 0;
  for (std::int64_t epoch = 0; step < steps_ && !outcome.is_diverged; ++epoch) {
    const std::vector<std::int64_t> order =
        datasets::epoch_order(at_.train.rows(), at_.seed, static_cast<std::uint32_t>(epoch));
    for (std::int64_t i = 0; i < steps_per_epoch_ && step < steps_; ++i) {
      if (train_step(step++, epoch, i, order)) continue;
      outcome.is_diverged = true;
      outcome.reason = "the loss is not finite at step " + std::to_string(step - 1);
      break;
    }
    if (outcome.is_diverged) break;
    evaluate(epoch + 1, step, outcome);
  }
  outcome.steps = step;
  outcome.checksum = hex(xxh64(std::as_bytes(std::span(losses_)), trainer_.replicated_hash()));
  return outcome;
}

const StageRegistrar registrar({
    .name = "finetune",
    .summary = "epochs over the train split, an evaluation after each",
    .make = [](const StageContext& context) -> std::unique_ptr<Stage> {
      return std::make_unique<FineTune>(context);
    },
});

}  // namespace
}  // namespace tersor::workloads
