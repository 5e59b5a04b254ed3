// SPDX-License-Identifier: Apache-2.0
// The loop knows neither what batches contain nor what is learned.
#include <catch2/catch.hpp>
#include <cmath>

#include "workloads/comm/tensor.hpp"
#include "workloads/stages/job_for_test.hpp"
#include "workloads/stages/stage.hpp"

using namespace tersor;
using namespace tersor::workloads;
using namespace tersor::workloads::testing;

namespace {

struct MadeRows : BatchSource {
  explicit MadeRows(std::int64_t count) : count_(count) {}
  std::int64_t rows() const override { return count_; }
  datasets::Batch batch(std::span<const std::int64_t> order, std::int64_t index,
                        std::int64_t batch_rows) const override {
    const std::int64_t begin = index * batch_rows;
    datasets::Batch made = make_random_batch(static_cast<std::uint32_t>(index),
                                             std::min(batch_rows, count_ - begin), 16);
    for (std::int64_t row = 0; row < made.rows; ++row)
      made.sample_ids[static_cast<std::size_t>(row)] = order[static_cast<std::size_t>(begin + row)];
    return made;
  }
  std::int64_t count_;
};

/// Counts three items a row, as a task over tokens counts tokens, and has no predictions.
struct ThreeItems : Task {
  std::int64_t outputs() const override { return inner->outputs(); }
  at::Tensor loss(const at::Tensor& output, const datasets::Batch& batch) const override {
    return inner->loss(output, batch);
  }
  void score(const at::Tensor& output, const datasets::Batch& batch,
             TaskScores& scores) const override {
    scores.add_loss(static_cast<double>(loss(output, batch).item<float>()), 3 * batch.rows);
  }
  std::vector<MetricValue> metrics(const TaskScores& scores) const override {
    return {{"items", static_cast<double>(scores.count)}};
  }
  std::unique_ptr<Task> inner = make_task();
};

struct Reports : StageRecorder {
  void record(const StepReport& report) override { steps.push_back(report); }
  void record(const Evaluation& evaluation) override { evaluations.push_back(evaluation); }
  std::vector<StepReport> steps;
  std::vector<Evaluation> evaluations;
};

struct Run {
  Reports reports;
  StageOutcome outcome;
};

Run fine_tune(const Task& task, protocol::Cell cell) {
  Setup setup(2, cell);
  const MadeRows train(20), dev(8);
  Run run;
  run.outcome = find_stage("finetune")
                    .make({.cell = setup.config,
                           .seed = 3,
                           .mesh = setup.mesh,
                           .stages = setup.parts.local(),
                           .task = task,
                           .optimizer = *setup.optimizer,
                           .schedule = find_schedule("linear"),
                           .train = train,
                           .dev = dev,
                           .recorder = run.reports,
                           .error_every = 2})
                    ->run();
  return run;
}

}  // namespace

TEST_CASE("finetune: epochs, evaluations and reports") {
  protocol::Cell cell = make_config("quantize(bits=4)");
  cell.training.epochs = 2;
  const Run run = fine_tune(*make_task(), cell);
  // 20 rows are three batches of 6 and two that are dropped; evaluations are on, then off.
  REQUIRE(run.reports.steps.size() == 6);
  CHECK(run.outcome.steps == 6);
  CHECK(run.reports.steps[3].epoch == 1);
  CHECK(run.reports.steps[0].errors.size() == 4);
  CHECK(run.reports.steps[1].errors.empty());
  REQUIRE(run.reports.evaluations.size() == 4);
  CHECK(run.reports.evaluations[0].is_compressed);
  CHECK_FALSE(run.reports.evaluations[3].is_compressed);
  CHECK(run.reports.evaluations[3].epoch == 2);
  CHECK(run.reports.evaluations[3].scores.predictions.size() == 8);
  CHECK(run.outcome.checksum == fine_tune(*make_task(), cell).outcome.checksum);
}

TEST_CASE("finetune: another task needs no other loop") {
  const protocol::Cell cell = make_config();
  const Run rows = fine_tune(*make_task(), cell), items = fine_tune(ThreeItems(), cell);
  CHECK(rows.outcome.checksum == items.outcome.checksum);
  REQUIRE(items.reports.evaluations.size() == 2);
  CHECK(items.reports.evaluations[0].loss == Approx(rows.reports.evaluations[0].loss));
  CHECK(items.reports.evaluations[0].metrics[0].value == 24);
}

TEST_CASE("finetune: a model that blows up in its last step diverged") {
  protocol::Cell cell = make_config();
  cell.training.max_steps = 1;
  cell.training.learning_rate_warmup = 0;
  cell.training.learning_rate = 1e38;  // one step is finite in its loss, and then nothing is
  datasets::DatasetInfo info;
  info.classes = 2;
  info.metrics = {"accuracy"};
  const Run run = fine_tune(*find_task(info).make(info), cell);
  REQUIRE(run.reports.steps.size() == 1);
  CHECK(run.reports.steps[0].result.is_finite);
  CHECK(run.outcome.is_diverged);
  CHECK(run.outcome.reason ==
        "loss or outputs of the evaluation after step 1 are not finite, with compression and "
        "without");
  REQUIRE(run.reports.evaluations.size() == 2);  // both are shown
  for (const Evaluation& evaluation : run.reports.evaluations) {
    REQUIRE(evaluation.metrics.size() == 1);
    CHECK_FALSE(std::isfinite(evaluation.loss));
    CHECK(std::isnan(evaluation.metrics[0].value));
    CHECK(evaluation.scores.predictions.size() == 8);
  }
}

TEST_CASE("finetune: what does not go together is refused") {
  protocol::Cell cell = make_config();
  cell.training.micro_batch = 21;
  CHECK_THROWS_WITH(fine_tune(*make_task(), cell),
                    Catch::Contains("train has 20 rows, fewer than one micro_batch of 21"));
}
