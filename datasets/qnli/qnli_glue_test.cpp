// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "datasets/dataset.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

// Expected: rows, sum of labels and UTF-8 bytes of the texts, by Python's open() and
// str.split('\t').
TEST_CASE("qnli holds what GLUE's files hold") {
  const auto root = testing::data_root_or_skip("glue/QNLI/dev.tsv");
  if (root.empty()) return;
  const DatasetInfo& info = find_dataset("qnli");
  const Split dev = load(info, root, SplitName::kDev);
  CHECK(testing::facts_of(dev) == testing::SplitFacts{5463, 2761, 322015, 937029});
  const Example& last = dev.examples.back();
  CHECK(last.text_a.starts_with("Who discovered this "));
  CHECK(last.row == static_cast<std::int64_t>(dev.examples.size()) - 1);
}

}  // namespace
}  // namespace tersor::datasets
