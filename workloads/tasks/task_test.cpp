// SPDX-License-Identifier: Apache-2.0
#include "workloads/tasks/task.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "workloads/comm/tensor.hpp"

using namespace tersor;
using namespace tersor::workloads;

namespace {

datasets::DatasetInfo dataset(int classes, std::vector<std::string> metrics) {
  datasets::DatasetInfo info;
  info.classes = classes;
  info.metrics = std::move(metrics);
  return info;
}

datasets::Batch batch_of(std::vector<float> labels) {
  datasets::Batch batch;
  batch.rows = static_cast<std::int64_t>(labels.size());
  batch.labels = std::move(labels);
  return batch;
}

}  // namespace

TEST_CASE("classification: cross-entropy, and the class of the largest logit") {
  const datasets::DatasetInfo info = dataset(2, {"accuracy"});
  CHECK(find_task(info).name == "classification");
  const auto task = find_task(info).make(info);
  CHECK(task->outputs() == 2);
  // Softmax of {0, log 3} is {1/4, 3/4}.
  const float log3 = std::log(3.0f);
  const at::Tensor logits = tensor_from(std::vector<float>{0, log3, log3, 0}, {{2, 2}});
  const datasets::Batch batch = batch_of({1, 1});
  const double expected = (-std::log(0.75) - std::log(0.25)) / 2;
  CHECK(task->loss(logits, batch).item<float>() == Approx(expected));
  TaskScores scores;
  task->score(logits, batch, scores);
  task->score(logits, batch, scores);
  CHECK(scores.count == 4);
  CHECK(scores.loss_sum == Approx(4 * expected));
  CHECK(scores.predictions == std::vector<double>{1, 0, 1, 0});
  CHECK(scores.labels == std::vector<double>{1, 1, 1, 1});
  REQUIRE(task->metrics(scores).size() == 1);
  CHECK(task->metrics(scores)[0].value == 0.5);
}

TEST_CASE("regression: squared error of one score") {
  const datasets::DatasetInfo info = dataset(0, {"pearson"});
  CHECK(find_task(info).name == "regression");
  const auto task = find_task(info).make(info);
  CHECK(task->outputs() == 1);
  const at::Tensor output = tensor_from(std::vector<float>{1, 2, 4}, {{3, 1}});
  const datasets::Batch batch = batch_of({1, 3, 2});
  TaskScores scores;
  task->score(output, batch, scores);
  CHECK(scores.loss_sum == Approx(0 + 1 + 4));
  CHECK(scores.predictions == std::vector<double>{1, 2, 4});
  CHECK(task->metrics(scores)[0].name == "pearson");
}

TEST_CASE("outputs that are no numbers give no prediction and no metric") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const int classes : {2, 0}) {
    const datasets::DatasetInfo info = dataset(classes, {classes ? "accuracy" : "pearson"});
    const auto task = find_task(info).make(info);
    const auto width = static_cast<std::size_t>(task->outputs());
    for (const float bad : {inf, -inf, nan}) {
      std::vector<float> values(3 * width, 0.5f);
      values[width] = bad;
      TaskScores scores;
      task->score(tensor_from(values, {{3, task->outputs()}}), batch_of({1, 0, 1}), scores);
      CHECK_FALSE(scores.is_finite);
      REQUIRE(scores.predictions.size() == 3);
      CHECK(std::isnan(scores.predictions[1]));
      CHECK_FALSE(std::isnan(scores.predictions[2]));
      CHECK(scores.labels == std::vector<double>{1, 0, 1});
      CHECK(std::isnan(task->metrics(scores).at(0).value));
    }
  }
  // Finite outputs whose loss is not.
  TaskScores scores;
  scores.add_loss(inf, 4);
  CHECK_FALSE(scores.is_finite);
}
