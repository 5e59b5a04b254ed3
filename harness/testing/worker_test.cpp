// SPDX-License-Identifier: Apache-2.0
// The smoke matrix with the real worker.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/matrix/model_facts.hpp"
#include "harness/testing/program.hpp"

using tersor::harness::testing::run_program;
using tersor::harness::testing::Workplace;

namespace {

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("the smoke matrix runs with the real worker") {
  const Workplace place;
  const std::string database = place.path("results.db").string();
  const auto result = run_program({TERSOR_PROGRAM, "run", "smoke", "--db", database},
                                  {{"TERSOR_WORKER", TERSOR_REAL_WORKER}});
  INFO(result.output);
  REQUIRE(result.status == 0);
  CHECK(place.processes().empty());
  CHECK(place.query("SELECT status, steps, count(*) FROM run GROUP BY status, steps") ==
        Rows{"ok | 4 | 7"});
  CHECK(place.query("SELECT count(*) FROM process") == Rows{"10"});  // 3 cells of 2 ranks, 4 of one

  // Emulated shards and real ranks of one codec end in the same parameters and losses.
  CHECK(place.query("SELECT codec FROM v_run WHERE tp = 2 GROUP BY codec "
                    "HAVING count(*) = 2 AND count(DISTINCT checksum) = 1 ORDER BY codec") ==
        Rows{"cast", "none", "topk(ratio=0.05)"});
  CHECK(place.query("SELECT count(DISTINCT checksum) FROM v_run WHERE tp = 2") == Rows{"3"});

  SECTION("what the harness knows of the model is what the worker built") {
    const auto arch =
        nlohmann::json::parse(place.query("SELECT arch FROM model WHERE name = 'bert-tiny'").at(0));
    const auto& facts = tersor::harness::find_model("bert-tiny");
    CHECK(arch.at("layers") == facts.layers);
    CHECK(arch.at("hidden") == facts.hidden);
    CHECK(arch.at("heads") == facts.heads);
    CHECK(arch.at("positions") == facts.positions);
  }

  SECTION("one thread a rank, on the cores that the launcher chose") {
    for (const auto& entry : std::filesystem::directory_iterator(place.path("results.db.runs")))
      if (entry.is_directory()) CHECK(std::filesystem::exists(entry.path() / "rank0.jsonl"));
    CHECK(place.query("SELECT DISTINCT threads FROM environment") == Rows{"1"});
  }
}

TEST_CASE("a training file that was cut short fails its run and says where") {
  const Workplace place;
  std::filesystem::create_directories(place.path("data/glue/SST-2"));
  const std::string rows = "sentence\tlabel\na fine film\t1\na dull film\n";
  place.write("data/glue/SST-2/train.tsv", rows);
  place.write("data/glue/SST-2/dev.tsv", rows);
  place.write("matrix.json", R"({"name": "m", "defaults": {"max_steps": 1},
                                 "matrix": {"dataset": "sst2", "hardware": "cpu-tp2"}})");
  const auto result =
      run_program({TERSOR_PROGRAM, "run", place.path("matrix.json").string(), "--db",
                   place.path("results.db").string(), "--data", place.path("data").string()},
                  {{"TERSOR_WORKER", TERSOR_REAL_WORKER}});
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK_THAT(place.query("SELECT status || ' ' || cause || ' ' || reason FROM run").at(0),
             Catch::StartsWith("failed refused ") && Catch::Contains("train.tsv:3:"));
  CHECK(place.processes().empty());
}

TEST_CASE("weights that were cut short fail their run and say so") {
  const Workplace place;
  std::filesystem::create_directories(place.path("weights"));
  place.write("weights/model.safetensors", std::string(40, '\1'));
  place.write("weights/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nfilm\n");
  place.write("matrix.json", R"({"name": "m", "defaults": {"max_steps": 1, "model": "minilm-l6"},
                                 "matrix": {"hardware": "cpu-tp2"}})");
  const auto result =
      run_program({TERSOR_PROGRAM, "run", place.path("matrix.json").string(), "--db",
                   place.path("results.db").string(), "--weights", place.path("weights").string()},
                  {{"TERSOR_WORKER", TERSOR_REAL_WORKER}});
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK_THAT(place.query("SELECT status || ' ' || reason FROM run").at(0),
             Catch::StartsWith("failed ") && Catch::Contains("model.safetensors"));
}
