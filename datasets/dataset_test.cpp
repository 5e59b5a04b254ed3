// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "common/error.hpp"
#include "datasets/metrics/metric.hpp"
#include "datasets/testing/paths.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using testing::message_of;

TEST_CASE("every folder with a set of its name is registered, and nothing else") {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(TERSOR_SOURCE_DIR) / "datasets")) {
    const std::string name = entry.path().filename().string();
    if (fs::exists(entry.path() / (name + ".cpp"))) folders.insert(name);
  }
  std::set<std::string> registered;
  for (const DatasetInfo* info : all_datasets()) registered.insert(info->name);
  CHECK(registered == folders);
  CHECK(registered.contains("sst2"));
}

TEST_CASE("every metric file is registered") {
  std::set<std::string> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path(TERSOR_SOURCE_DIR) / "datasets" / "metrics"))
    if (entry.path().extension() == ".cpp") files.insert(entry.path().stem().string());
  files.erase("metric");  // the registry, and its test
  files.erase("metric_test");
  std::set<std::string> registered;
  for (const Metric* metric : all_metrics()) registered.insert(metric->name);
  CHECK(registered == files);
}

TEST_CASE("manifests are complete") {
  for (const DatasetInfo* info : all_datasets()) {
    CAPTURE(info->name);
    CHECK_FALSE(info->title.empty());
    CHECK_FALSE(info->source.empty());
    CHECK_FALSE(info->licence.empty());
    CHECK_FALSE(info->subset_rule.empty());
    for (const std::string& metric : info->metrics) CHECK(find_metric(metric).name == metric);
    CHECK(info->url.empty() == info->embedded());
    const std::size_t files = info->content == Content::kRows ? 2 : 3;  // and a test split
    CHECK((info->embedded() ? !info->vocabulary.empty() : info->files.size() == files));
    for (const FileFact& file : info->files) {
      CHECK(file.rows > 0);
      CHECK((file.sha256.empty() || file.sha256.size() == 64));
    }
  }
}

TEST_CASE("official metrics of GLUE, the primary one first") {
  using Names = std::vector<std::string>;
  CHECK(find_dataset("sst2").metrics == Names{"accuracy"});
  CHECK(find_dataset("mrpc").metrics == Names{"f1", "accuracy"});
  CHECK(find_dataset("cola").metrics == Names{"matthews"});
  CHECK(find_dataset("stsb").metrics == Names{"pearson", "spearman"});
  CHECK(find_dataset("stsb").classes == 0);
  CHECK(find_dataset("qqp").metrics == Names{"f1", "accuracy"});
  CHECK(find_dataset("mnli").classes == 3);
  for (const char* name : {"mnli", "mnli_mismatched", "qnli", "rte", "wnli"})
    CHECK(find_dataset(name).metrics == Names{"accuracy"});
}

TEST_CASE("an unknown set is refused with the nearest name") {
  CHECK_THAT(message_of([] { find_dataset("sst-2"); }), Contains("unknown data set 'sst-2'") &&
                                                            Contains("did you mean 'sst2'") &&
                                                            Contains("synthetic"));
}

TEST_CASE("the data root is the argument, else the environment") {
  ::setenv("TERSOR_DATA", "/from/environment", 1);
  CHECK(find_data_root("/given") == "/given");
  CHECK(find_data_root("") == "/from/environment");
  ::unsetenv("TERSOR_DATA");
  CHECK(find_data_root("").empty());
}

}  // namespace
}  // namespace tersor::datasets
