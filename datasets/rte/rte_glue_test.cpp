// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "datasets/dataset.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

// Expected: rows, sum of labels and UTF-8 bytes of the texts, by Python's open() and
// str.split('\t').
TEST_CASE("rte holds what GLUE's files hold") {
  const auto root = testing::data_root_or_skip("glue/RTE/dev.tsv");
  if (root.empty()) return;
  const DatasetInfo& info = find_dataset("rte");
  CHECK(available(info, root).available);
  const Split train = load(info, root, SplitName::kTrain);
  CHECK(testing::facts_of(train) == testing::SplitFacts{2490, 1241, 663481, 134039});
  const Split dev = load(info, root, SplitName::kDev);
  CHECK(testing::facts_of(dev) == testing::SplitFacts{277, 131, 71126, 14062});
  const Example& last = dev.examples.back();
  CHECK(last.text_a.starts_with("Danny Kennedy, Green"));
  CHECK(last.row == static_cast<std::int64_t>(dev.examples.size()) - 1);
}

}  // namespace
}  // namespace tersor::datasets
