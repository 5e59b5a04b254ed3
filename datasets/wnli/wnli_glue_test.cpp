// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "datasets/dataset.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

// Expected: rows, sum of labels and UTF-8 bytes of the texts, by Python's open() and
// str.split('\t').
TEST_CASE("wnli holds what GLUE's files hold") {
  const auto root = testing::data_root_or_skip("glue/WNLI/dev.tsv");
  if (root.empty()) return;
  const DatasetInfo& info = find_dataset("wnli");
  CHECK(available(info, root).available);
  const Split train = load(info, root, SplitName::kTrain);
  CHECK(testing::facts_of(train) == testing::SplitFacts{635, 312, 66406, 28003});
  const Split dev = load(info, root, SplitName::kDev);
  CHECK(testing::facts_of(dev) == testing::SplitFacts{71, 31, 7940, 2802});
  const Example& last = dev.examples.back();
  CHECK(last.text_a.starts_with("George got free tick"));
  CHECK(last.row == static_cast<std::int64_t>(dev.examples.size()) - 1);
}

}  // namespace
}  // namespace tersor::datasets
