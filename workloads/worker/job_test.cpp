// SPDX-License-Identifier: Apache-2.0
#include "workloads/stages/calls.hpp"

#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "datasets/dataset.hpp"
#include "workloads/messages/pass.hpp"
#include "workloads/worker/job.hpp"

using namespace tersor;
using namespace tersor::workloads;

namespace {

constexpr std::int64_t kRows = kMaxCalls + 1;

datasets::DatasetInfo many_rows() {
  datasets::DatasetInfo info;
  info.name = "many-rows";
  info.title = "more rows than calls, for tests";
  info.classes = 2;
  info.metrics = {"accuracy"};
  info.vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"};
  info.read = [](const datasets::DatasetInfo&, const std::filesystem::path&, datasets::SplitName,
                 std::int64_t most) {
    std::vector<datasets::Example> rows(static_cast<std::size_t>(most == 0 ? kRows : most));
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] = {.text_a = "a", .text_b = "", .label = 0, .row = static_cast<std::int64_t>(i)};
    return rows;
  };
  return info;
}
const datasets::DatasetRegistrar many_rows_registrar(many_rows());

struct Silent : Recorder {
  void write(const protocol::Record&) override { ++records; }
  int records = 0;
};

}  // namespace

TEST_CASE("calls: the last number fits, the next is refused with the remedy") {
  check_evaluation_batches(kMaxCalls, 1);
  check_evaluation_batches(2 * kMaxCalls, 2);
  CHECK(pass_call(65535) == 65535);
  CHECK_THROWS_WITH(check_evaluation_batches(2 * kMaxCalls + 1, 2),
                    "an evaluation of 131073 rows by micro_batch 2 has 65537 batches, more than "
                    "65536; raise micro_batch to at least 3, or lower eval_rows");
  CHECK_THROWS_WITH(pass_call(65536), Catch::Contains("call 65536"));
  CHECK_THROWS_WITH(pass_call(-1), Catch::Contains("call -1"));
}

TEST_CASE("calls: a cell with too many evaluation batches is refused before it starts") {
  protocol::JobFile job;
  job.config.data.name = "many-rows";
  job.config.data.train_rows = 4;
  job.config.data.sequence = 4;
  job.config.training.micro_batch = 1;
  Silent recorder;
  CHECK_THROWS_WITH(
      run_job(job, "", make_emulated_collective(1, SumOrder::kLibrary), recorder, {}),
      Catch::Contains("has 65537 batches") && Catch::Contains("micro_batch to at least 2"));
  CHECK(recorder.records == 0);
}
