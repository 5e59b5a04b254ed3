// SPDX-License-Identifier: Apache-2.0
#include "datasets/batches.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "common/error.hpp"
#include "common/philox.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;
using Longs = std::vector<std::int64_t>;

std::unique_ptr<Tokenizer> letters() {
  return make_wordpiece({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c"}, "letters");
}

EncodedSplit encode(bool pairs, std::int64_t sequence) {
  DatasetInfo info;
  info.pairs = pairs;
  Split split;
  split.examples = {{"a b", "c", 1, 10}, {"", "", 0, 11}, {"a a a a", "b b", 2.5f, 12}};
  return encode_split(info, split, *letters(), sequence);
}

TEST_CASE("a batch of pairs") {
  const EncodedSplit split = encode(true, 7);
  const Longs order = {2, 0, 1};
  const Batch batch = make_batch(split, order, 0, 2);
  CHECK(batch.rows == 2);
  CHECK(batch.sequence == 7);
  CHECK(batch.ids == Longs{2, 4, 4, 3, 5, 5, 3, 2, 4, 5, 3, 6, 3, 0});
  CHECK(batch.types == Longs{0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0});
  CHECK(batch.mask == Longs{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0});
  CHECK(batch.labels == std::vector<float>{2.5f, 1});
  CHECK(batch.sample_ids == Longs{12, 10});
  const Batch rest = make_batch(split, order, 1, 2);
  CHECK(rest.rows == 1);
  CHECK(rest.ids == Longs{2, 3, 3, 0, 0, 0, 0});
  CHECK(rest.mask == Longs{1, 1, 1, 0, 0, 0, 0});
}

TEST_CASE("a batch of single texts") {
  const Batch batch = make_batch(encode(false, 5), Longs{0, 2}, 0, 2);
  CHECK(batch.ids == Longs{2, 4, 5, 3, 0, 2, 4, 4, 4, 3});
  CHECK(batch.types == Longs(10, 0));
}

TEST_CASE("sequences that hold no special tokens are refused") {
  CHECK_THAT(message_of([] { encode(true, 2); }), Contains("sequence 2 cannot hold the 3 special"));
  CHECK_THAT(message_of([] { encode(false, 1); }),
             Contains("sequence 1 cannot hold the 2 special"));
  CHECK(encode(true, 3).ids == std::vector<std::int32_t>{2, 3, 3, 2, 3, 3, 2, 3, 3});
}

TEST_CASE("training drops the last short batch, evaluation keeps it") {
  CHECK(training_batches(65, 32) == 2);
  CHECK(evaluation_batches(65, 32) == 3);
  CHECK(training_batches(31, 32) == 0);
  CHECK(evaluation_batches(31, 32) == 1);
  CHECK(evaluation_batches(64, 32) == 2);
  const EncodedSplit split = encode(true, 7);
  CHECK_THROWS_AS(make_batch(split, Longs{0, 1, 2}, 2, 2), Error);
  CHECK_THROWS_AS(make_batch(split, Longs{3}, 0, 2), Error);
}

TEST_CASE("an epoch's order sorts rows by their Philox draws") {
  // Seed 5, epoch 1: counter {block, 1, 0, 5}, key {5, 0}; by a NumPy Philox4x32-10 and lexsort.
  CHECK(epoch_order(10, 5, 1) == Longs{5, 9, 3, 7, 4, 2, 8, 1, 0, 6});
  const Longs order = epoch_order(1000, 1, 0);
  Longs sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Longs identity(1000);
  std::iota(identity.begin(), identity.end(), 0);
  CHECK(sorted == identity);
  CHECK(order != identity);
  CHECK(epoch_order(1000, 1, 0) == order);
  CHECK(epoch_order(1000, 2, 0) != order);
  CHECK(epoch_order(1000, 1, 1) != order);
  CHECK(epoch_order(1000, 1ULL << 32 | 1, 0) != order);
  CHECK(epoch_order(0, 1, 0).empty());
}

}  // namespace
}  // namespace tersor::datasets
