// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "datasets/dataset.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

// Expected: rows, sum of labels and UTF-8 bytes of the texts, by Python's open() and
// str.split('\t').
TEST_CASE("stsb holds what GLUE's files hold") {
  const auto root = testing::data_root_or_skip("glue/STS-B/train.tsv");
  if (root.empty()) return;
  const DatasetInfo& info = find_dataset("stsb");
  CHECK(available(info, root).available);
  const Split train = load(info, root, SplitName::kTrain);
  const Split dev = load(info, root, SplitName::kDev);
  // Sums of scores are of float32 here and of binary64 there.
  const testing::SplitFacts train_facts = testing::facts_of(train);
  const testing::SplitFacts dev_facts = testing::facts_of(dev);
  CHECK(train_facts.rows == 5749);
  CHECK(train_facts.labels == Approx(15528.043396825336));
  CHECK(train_facts.bytes_a == 331892);
  CHECK(train_facts.bytes_b == 330915);
  CHECK(dev_facts.rows == 1500);
  CHECK(dev_facts.labels == Approx(3545.8613333333324));
  CHECK(dev_facts.bytes_a == 96434);
  CHECK(dev_facts.bytes_b == 95630);
  const Example& last = dev.examples.back();
  CHECK(last.text_a.starts_with("New video shows"));
  CHECK(last.label == 0.0f);
  CHECK(last.row == static_cast<std::int64_t>(dev.examples.size()) - 1);
}

}  // namespace
}  // namespace tersor::datasets
