// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/job_file.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "datasets/dataset.hpp"
#include "workloads/worker/records.hpp"

using namespace tersor;
using namespace tersor::workloads;

TEST_CASE("job file: what this worker cannot do is refused") {
  protocol::JobFile job;
  CHECK_NOTHROW(check_job(job, 1));
  CHECK_THROWS_WITH(check_job(job, 2), Catch::Contains("WORLD_SIZE is 2"));
  job.config.training.stage = "pretrain";
  CHECK_THROWS_WITH(check_job(job, 1), Catch::Contains("pretrain"));
  job.config = {};
  job.config.hardware.pp = 2;
  CHECK_NOTHROW(check_job(job, 2));
  CHECK_THROWS_WITH(check_job(job, 1), Catch::Contains("WORLD_SIZE is 1"));
  job.config.compression.codecs["pp"] = "twostep(quantize)";
  CHECK_THROWS_WITH(check_job(job, 2), Catch::Contains("has one sender"));
  job.config = {};
  job.config.hardware.device = "cuda";
  CHECK_THROWS_WITH(check_job(job, 1), Catch::Contains("cuda"));
  job.config = {};
  job.config.compression.codecs["pp"] = "topk";
  CHECK_THROWS_WITH(check_job(job, 1), Catch::Contains("'pp'"));
}

TEST_CASE("records: a sample keeps what is not finite as none") {
  ErrorSample sample;
  sample.message_cosine = std::nan("");
  const protocol::MessageError record = to_record(sample);
  CHECK_FALSE(record.message_cosine);
  CHECK(record.sum_cosine == 0.0);
}

TEST_CASE("records: an evaluation has the metrics of its task, the first one primary") {
  datasets::DatasetInfo info;
  info.classes = 2;
  info.metrics = {"accuracy", "f1"};
  Evaluation evaluation{.epoch = 1, .step = 5, .is_compressed = false};
  evaluation.scores.predictions = {0, 1, 1, 1};
  evaluation.scores.labels = {0, 1, 0, 1};
  evaluation.metrics = find_task(info).make(info)->metrics(evaluation.scores);
  const protocol::Eval record = to_record(evaluation);
  CHECK(record.inference == "off");
  CHECK(record.rows == 4);
  CHECK(record.primary == "accuracy");
  CHECK(record.metrics.at(0) == std::pair(std::string("accuracy"), protocol::Number(0.75)));
  CHECK(record.metrics.at(1).second == 0.8);  // precision 2/3, recall 1
  CHECK(record.predictions.size() == 4);
}
