// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "datasets/synthetic/words.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

bool holds(std::span<const std::string_view> words, const std::string& text) {
  std::istringstream stream(text);
  for (std::string word; stream >> word;)
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
  return false;
}

/// The label that the texts tell; -1 where they tell none or both.
int told(const Example& example) {
  const bool praise = holds(synthetic::kPositive, example.text_a);
  const bool reversed = holds(synthetic::kReversing, example.text_b);
  if (praise == holds(synthetic::kNegative, example.text_a)) return -1;
  if (reversed == holds(synthetic::kKeeping, example.text_b)) return -1;
  return praise != reversed ? 1 : 0;
}

TEST_CASE("the generated set is the one that synthetic/expected.py generates") {
  const DatasetInfo& info = find_dataset("synthetic");
  const Split train = load(info, "", SplitName::kTrain);
  const Split dev = load(info, "", SplitName::kDev);
  REQUIRE(train.examples.size() == 8192);
  REQUIRE(dev.examples.size() == 1000);
  CHECK(dev.examples[0].text_a == "warm great perfect brilliant good excellent great splendid");
  CHECK(dev.examples[0].text_b == "truly surely clearly indeed surely really certainly definitely");
  CHECK(dev.examples[0].label == 1.0f);
  CHECK(train.content_hash == 0x3b6741b9e49b027f);
  CHECK(dev.content_hash == 0xf64a2405e739d112);
}

TEST_CASE("the best accuracy of the generated set is what its manifest says") {
  const DatasetInfo& info = find_dataset("synthetic");
  for (const std::int64_t rows : {1000, 500, 20}) {
    const Split dev = load(info, "", SplitName::kDev, rows);
    const auto right =
        std::count_if(dev.examples.begin(), dev.examples.end(), [](const Example& e) {
          REQUIRE(told(e) >= 0);
          return static_cast<float>(told(e)) == e.label;
        });
    CHECK(static_cast<double>(right) / static_cast<double>(rows) ==
          Approx(info.best_accuracy.value()));
  }
}

TEST_CASE("the first rows do not depend on how many are asked for") {
  const DatasetInfo& info = find_dataset("synthetic");
  const Split all = load(info, "", SplitName::kTrain);
  const Split some = load(info, "/nonexistent", SplitName::kTrain, 33);
  REQUIRE(some.examples.size() == 33);
  for (std::size_t i = 0; i < 33; ++i) CHECK(some.examples[i].text_a == all.examples[i].text_a);
  CHECK(load(info, "", SplitName::kTrain, 100000).examples.size() == 8192);
}

TEST_CASE("the generated set needs no vocabulary file and no padding beyond 24 tokens") {
  const DatasetInfo& info = find_dataset("synthetic");
  CHECK(available(info, "").available);
  CHECK(std::set<std::string>(info.vocabulary.begin(), info.vocabulary.end()).size() ==
        info.vocabulary.size());
  const Split dev = load(info, "", SplitName::kDev);
  const auto tokenizer = make_tokenizer(info, "", dev);
  CHECK(tokenizer->vocabulary_size() == 209);
  const EncodedSplit encoded = encode_split(info, dev, *tokenizer, 64);
  CHECK(std::count(encoded.ids.begin(), encoded.ids.end(), 1) == 0);  // [UNK]
  for (std::size_t row = 0; row + 1 < encoded.offsets.size(); ++row) {
    const std::int64_t length = encoded.offsets[row + 1] - encoded.offsets[row];
    CHECK((length >= 19 && length <= 23));
  }
}

}  // namespace
}  // namespace tersor::datasets
