// SPDX-License-Identifier: Apache-2.0
#include "protocol/job_file.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "common/error.hpp"

using namespace tersor;
using namespace tersor::protocol;
using Catch::Contains;

namespace {

struct TempFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("tersor-job-file-" + std::to_string(getpid()) + ".json");
  ~TempFile() { std::filesystem::remove(path); }
};

JobFile read(const std::string& text) {
  const TempFile file;
  std::ofstream(file.path) << text;
  return read_job_file(file.path);
}

}  // namespace

TEST_CASE("job file: all keys, and seeds of 64 bits") {
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

TEST_CASE("job file: what was written is read back") {
  const JobFile job = read(
      R"json({"format": 1, "cell_key": "0123456789abcdef", "seed": 9223372036854775808, "attempt": 2,
      "config": {"compressor": "topk(ratio=0.1)"}, "data_root": "/data", "weights": "w", "vocab": "v",
      "progress": true, "error_every": 16, "messages_every": 4})json");
  const TempFile file;
  write_job_file(file.path, job);
  CHECK(to_json(read_job_file(file.path)) == to_json(job));
  std::ifstream stream(file.path);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  CHECK_THAT(text, Catch::StartsWith("{\n  \"format\": 1,\n  \"cell_key\": \"0123456789abcdef\",\n"
                                     "  \"seed\": 9223372036854775808,\n  \"attempt\": 2,\n"));
}

TEST_CASE("job file: paths are any bytes, and nothing is overwritten") {
  JobFile job = read(R"({"format": 1, "config": {}})");
  job.data_root = "/d\xff\xc3";
  job.weights = "/\xc3\xa9";
  const TempFile file;
  write_job_file(file.path, job);
  const JobFile again = read_job_file(file.path);
  CHECK(again.data_root == job.data_root);
  CHECK(again.weights == job.weights);
  CHECK(to_json(job)["weights"] == "/\xc3\xa9");
  CHECK(to_json(job)["data_root"]["bytes"] == nlohmann::json({47, 100, 255, 195}));
  CHECK_THROWS_WITH(write_job_file(file.path, job), Contains("File exists"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {}, "weights": {"bytes": [256]}})"),
                    Contains("'weights' has no byte 256"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {}, "weights": {"bytes": "x"}})"),
                    Contains("'weights' has no array 'bytes'"));
}

TEST_CASE("job file: what is wrong is named") {
  CHECK_THROWS_WITH(read_job_file("/nowhere/cell.json"), Contains("/nowhere/cell.json"));
  CHECK_THROWS_WITH(read("{"), Contains("1:2: not JSON"));
  CHECK_THROWS_WITH(read("[]"), Contains("expected an object, got []"));
  CHECK_THROWS_WITH(read("{}"),
                    Contains("'format' 0 is not the format that this tersor reads (1)"));
  CHECK_THROWS_WITH(read(R"({"format": 2})"), Contains("'format' 2 is not the format"));
  CHECK_THROWS_WITH(read(R"({"format": 1})"), Contains("'config' is missing"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {}, "seed": 1.5})"),
                    Contains("'seed' has the wrong type: 1.5"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {}, "seed": -1})"), Contains("'seed'"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {}, "weights": 3})"), Contains("weights"));
  CHECK_THROWS_WITH(read(R"({"format": 1, "config": {"modell": "x"}})"), Contains("modell"));
}
