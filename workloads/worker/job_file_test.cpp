// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/job_file.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "common/error.hpp"
#include "datasets/dataset.hpp"
#include "workloads/worker/records.hpp"

using namespace tersor;
using namespace tersor::workloads;

namespace {

JobFile read(const std::string& text) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("tersor-job-file-" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << text;
  try {
    JobFile job = read_job_file(file);
    std::filesystem::remove(file);
    return job;
  } catch (...) {
    std::filesystem::remove(file);
    throw;
  }
}

}  // namespace

TEST_CASE("cell file: all keys, and seeds of 64 bits") {
  const JobFile job =
      read(R"({"format": 1, "cell_key": "k", "seed": 18446744073709551615, "attempt": 3,
      "config": {"model": "minilm-l6"}, "data_root": "d", "weights": "w", "vocab": "v", "progress": true,
      "error_every": 5, "messages_every": 7})");
  CHECK(job.seed == std::numeric_limits<std::uint64_t>::max());
  CHECK(job.cell_key == "k");
  CHECK(job.attempt == 3);
  CHECK(job.config.model.name == "minilm-l6");
  CHECK(job.data_root + job.weights + job.vocabulary == "dwv");
  CHECK(job.has_progress);
  CHECK(job.error_every == 5);
  CHECK(job.messages_every == 7);
}

TEST_CASE("cell file: what is wrong is named") {
  CHECK_THROWS_WITH(read_job_file("/nowhere/cell.json"), Catch::Contains("/nowhere/cell.json"));
  CHECK_THROWS_WITH(read("{"), Catch::Contains("parse error"));
  CHECK_THROWS_WITH(read("{}"), Catch::Contains("\"format\": 1"));
  CHECK_THROWS_WITH(read(R"({"format": 1})"), Catch::Contains("\"config\" is missing"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {}, "seed": 1.5})"), Catch::Contains("1.5"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {}, "weights": 3})"),
                    Catch::Contains("weights"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {"modell": "x"}})"), Catch::Contains("modell"));
}

TEST_CASE("cell file: what this worker cannot do is refused") {
  JobFile job;
  CHECK_NOTHROW(check_job(job, 1));
  CHECK_THROWS_WITH(check_job(job, 2), Catch::Contains("WORLD_SIZE is 2"));
  job.config.training.stage = "pretrain";
  CHECK_THROWS_WITH(check_job(job, 1), Catch::Contains("pretrain"));
  job.config = {};
  job.config.hardware.pp = 2;
  CHECK_THROWS_WITH(check_job(job, 2), Catch::Contains("hardware.pp 2"));
  job.config = {};
  job.config.hardware.device = "cuda";
  CHECK_THROWS_WITH(check_job(job, 1), Catch::Contains("cuda"));
  job.config = {};
  job.config.compression.codecs["pp"] = "topk";
  CHECK_THROWS_WITH(check_job(job, 1), Catch::Contains("'pp'"));
}

TEST_CASE("records: what is not finite becomes null and marks its object") {
  ErrorSample sample;
  sample.message_cosine = std::nan("");
  nlohmann::ordered_json record = to_json(sample);
  CHECK(record.at("message_cosine").is_null());
  CHECK(record.at("sum_cosine") == 0.0);
  CHECK(record.at("nonfinite") == true);
  set_number(record, "x", std::numeric_limits<double>::infinity());
  CHECK(record.at("x").is_null());
}

TEST_CASE("records: an evaluation has the metrics of its task, the first one primary") {
  datasets::DatasetInfo info;
  info.classes = 2;
  info.metrics = {"accuracy", "f1"};
  Evaluation evaluation{.epoch = 1, .step = 5, .is_compressed = false};
  evaluation.scores.predictions = {0, 1, 1, 1};
  evaluation.scores.labels = {0, 1, 0, 1};
  evaluation.metrics = find_task(info).make(info)->metrics(evaluation.scores);
  const nlohmann::ordered_json record = to_json(evaluation);
  CHECK(record.at("inference") == "off");
  CHECK(record.at("rows") == 4);
  CHECK(record.at("primary") == "accuracy");
  CHECK(record.at("metrics").at("accuracy") == 0.75);
  CHECK(record.at("metrics").at("f1") == 0.8);  // precision 2/3, recall 1
  CHECK(record.at("predictions").size() == 4);
}
