// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/testing/program.hpp"

namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using tersor::harness::testing::run_program;

class DataFolder {
 public:
  DataFolder() {
    std::string pattern = (fs::temp_directory_path() / "tersor-data-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~DataFolder() { fs::remove_all(path_); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  std::string write(const std::string& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST_CASE("data list without a folder shows the embedded set and where to get the others") {
  const auto list = run_program({TERSOR_PROGRAM, "data", "list"}, {{"TERSOR_DATA", ""}});
  CHECK(list.status == 0);
  CHECK_THAT(list.output, Contains("synthetic           8192     1000") &&
                              Contains("best accuracy 0.95") &&
                              Contains("markov             66560     4160  perplexity") &&
                              Contains("best perplexity 7.3781") &&
                              Contains("sst2: glue/SST-2/train.tsv is missing") &&
                              Contains("sst2: scripts/fetch glue-sst2 gets it") &&
                              Contains("https://") && Contains("pearson, spearman"));
}

TEST_CASE("data list tells found, other, broken and missing files apart") {
  const DataFolder folder;
  folder.write("glue/SST-2/train.tsv", "sentence\tlabel\ngood\t1\nbad\t0\n");
  folder.write("glue/SST-2/dev.tsv", "sentence\tlabel\ngood\n");
  const auto list =
      run_program({TERSOR_PROGRAM, "data", "list", "--data", folder.path(), "--json"});
  REQUIRE(list.status == 0);
  for (const auto& set : nlohmann::json::parse(list.output)) {
    if (set["name"] == "synthetic") CHECK(set["available"] == true);
    if (set["name"] == "cola") CHECK(set["splits"]["dev"]["state"] == "missing");
    if (set["name"] != "sst2") continue;
    CHECK(set["available"] == false);
    CHECK(set["splits"]["train"]["rows"] == 2);
    CHECK(set["splits"]["train"]["published_rows"] == 67349);
    CHECK(set["splits"]["train"]["state"] == "other copy");
    CHECK(set["splits"]["dev"]["rows"].is_null());
    CHECK(set["splits"]["dev"]["state"] == "malformed");
    CHECK_THAT(set["splits"]["dev"]["problem"].get<std::string>(), Contains("dev.tsv:2: column 2"));
  }
  const auto none = run_program({TERSOR_PROGRAM, "data", "list", "--data", "/nonexistent"});
  CHECK(none.status != 0);
  CHECK_THAT(none.output, Contains("data folder /nonexistent is not there"));
}

TEST_CASE("data tokens gives one array a line") {
  const DataFolder folder;
  const std::string vocab = folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\ncafe\n##s\n!\n");
  const std::string input = folder.write("in.txt", "Caf\xC3\xA9s!\n\nx\r\ncafe");
  const auto tokens = run_program(
      {"/bin/sh", "-c", "exec \"$0\" data tokens --tokenizer wordpiece --vocab \"$1\" < \"$2\"",
       TERSOR_PROGRAM, vocab, input});
  CHECK(tokens.status == 0);
  CHECK(tokens.output == "[4,5,6]\n[]\n[1]\n[4]\n");
  const auto missing = run_program({TERSOR_PROGRAM, "data", "tokens", "--vocab", "/none.txt"});
  CHECK(missing.status != 0);
  CHECK_THAT(missing.output, Contains("/none.txt: there is no such file"));
}

}  // namespace
