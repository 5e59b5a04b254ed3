// SPDX-License-Identifier: Apache-2.0
#include "datasets/samples.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "common/error.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;
using Longs = std::vector<std::int64_t>;

const std::vector<std::string> kWords = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"};
constexpr std::int32_t kVocabulary = 1000;

/// Token ids 5, 6, 7, ..; sentences of 4 tokens, documents of the given numbers of sentences.
TokenStream stream_of(const std::vector<int>& documents) {
  TokenStream stream;
  stream.vocabulary = kVocabulary;
  for (const int sentences : documents) {
    stream.documents.push_back(static_cast<std::int64_t>(stream.sentences.size()));
    for (int i = 0; i < 4 * sentences; ++i) {
      if (i % 4 == 0) stream.sentences.push_back(static_cast<std::int64_t>(stream.ids.size()));
      stream.ids.push_back(static_cast<std::int32_t>(stream.ids.size() % 900) + 5);
    }
  }
  return stream;
}

Longs identity(std::int64_t rows) {
  Longs order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::unique_ptr<Samples> masked(const std::vector<int>& documents, std::int64_t sequence,
                                SentenceTask task = SentenceTask::kOrder) {
  return masked_samples(stream_of(documents), sequence, *make_wordpiece(kWords, "words"), task);
}

/// The ids of a row before any was hidden.
Longs uncovered(const Batch& batch, std::size_t row) {
  Longs ids;
  const auto length = static_cast<std::size_t>(batch.sequence);
  for (std::size_t i = row * length; i < (row + 1) * length; ++i)
    ids.push_back(batch.targets[i] == kNoTarget ? batch.ids[i] : batch.targets[i]);
  return ids;
}

TEST_CASE("causal blocks: every token but the first of a block is predicted once") {
  TokenStream stream = stream_of({5});  // 20 tokens: 5 .. 24
  const auto samples = causal_samples(std::move(stream), 6);
  CHECK(samples->targets() == TargetKind::kNextToken);
  CHECK(samples->inputs() == InputKind::kTokens);
  REQUIRE(samples->rows() == 3);
  const Batch batch = samples->batch(Longs{2, 0, 1}, 0, 2, {});
  CHECK(batch.rows == 2);
  CHECK(batch.ids == Longs{17, 18, 19, 20, 21, 22, 5, 6, 7, 8, 9, 10});
  CHECK(batch.targets == Longs{18, 19, 20, 21, 22, -100, 6, 7, 8, 9, 10, -100});
  CHECK(batch.mask == Longs(12, 1));
  CHECK(batch.types == Longs(12, 0));
  CHECK(batch.labels.empty());
  CHECK(batch.sample_ids == Longs{2, 0});
  const Batch rest = samples->batch(Longs{2, 0, 1}, 1, 2, {.seed = 9, .epoch = 4});
  CHECK(rest.rows == 1);
  CHECK(rest.sample_ids == Longs{1});
  CHECK(rest.ids == Longs{11, 12, 13, 14, 15, 16});
  CHECK_THROWS_AS(samples->batch(Longs{3}, 0, 1, {}), Error);
  CHECK_THROWS_AS(samples->batch(Longs{0}, 1, 1, {}), Error);
  CHECK_THAT(message_of([] { causal_samples(stream_of({1}), 5); }),
             Contains("4 tokens fill no block of 5"));
  CHECK_THAT(message_of([] { causal_samples(stream_of({1}), 1); }),
             Contains("no token to predict"));
}

TEST_CASE("masked pairs hold consecutive sentences of one document, in either order") {
  // Room of 13 tokens: chunks of 4 sentences; the fifth sentence of the last is left alone.
  const auto samples = masked({8, 1, 5}, 16);
  REQUIRE(samples->rows() == 3);
  CHECK(samples->targets() == TargetKind::kMaskedTokens);
  int apart = 0;
  for (std::uint32_t epoch = 0; epoch < 200; ++epoch) {
    const Batch batch = samples->batch(identity(3), 0, 3, {.seed = 1, .epoch = epoch});
    for (std::size_t row = 0; row < 3; ++row) {
      const Longs ids = uncovered(batch, row);
      CHECK(ids.front() == 2);
      const auto length =
          std::count(batch.mask.begin() + 16 * static_cast<std::ptrdiff_t>(row),
                     batch.mask.begin() + 16 * static_cast<std::ptrdiff_t>(row + 1), 1);
      CHECK(length == 16);
      CHECK(ids.back() == 3);
      CHECK(std::count(ids.begin(), ids.end(), 3) == 2);
      const auto end_of_a = std::find(ids.begin(), ids.end(), 3) - ids.begin();
      const std::int64_t first = row < 2 ? 5 + 16 * static_cast<std::int64_t>(row) : 5 + 36;
      const bool is_apart = batch.labels[row] == 1.0F;
      CHECK((ids[1] == first) == !is_apart);
      CHECK((ids[static_cast<std::size_t>(end_of_a) + 1] == first) == is_apart);
      apart += is_apart ? 1 : 0;
    }
  }
  CHECK(std::abs(apart - 300) < 50);  // 4 standard deviations of 600 fair draws
}

TEST_CASE("next sentences come from another document in half of the samples") {
  const auto samples = masked({4, 4, 4}, 16, SentenceTask::kNext);
  int apart = 0;
  for (std::uint32_t epoch = 0; epoch < 100; ++epoch) {
    const Batch batch = samples->batch(identity(3), 0, 3, {.seed = 1, .epoch = epoch});
    for (std::size_t row = 0; row < 3; ++row) {
      const Longs ids = uncovered(batch, row);
      CHECK(ids[1] == 5 + 16 * static_cast<std::int64_t>(row));
      const auto b =
          static_cast<std::size_t>(std::find(ids.begin(), ids.end(), 3) - ids.begin()) + 1;
      const bool is_other = (ids[b] - 5) / 16 != static_cast<std::int64_t>(row);
      CHECK(is_other == (batch.labels[row] == 1.0F));
      apart += is_other ? 1 : 0;
    }
  }
  CHECK(std::abs(apart - 150) < 35);
  CHECK_THAT(message_of([] { masked({8}, 16, SentenceTask::kNext); }), Contains("two documents"));
}

TEST_CASE("15 % of the tokens are hidden: 80 % [MASK], 10 % any token, 10 % themselves") {
  const auto samples = masked({2000}, 103);  // 25 sentences of 4 tokens fill the room of 100
  REQUIRE(samples->rows() == 80);
  std::array<int, 3> kinds{};
  std::set<std::int64_t> others;
  Longs places(103, 0);
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    const Batch batch = samples->batch(identity(80), 0, 80, {.seed = 3, .epoch = epoch});
    for (std::size_t row = 0; row < 80; ++row) {
      int hidden = 0;
      for (std::size_t i = 0; i < 103; ++i) {
        const std::size_t at = row * 103 + i;
        if (batch.targets[at] == kNoTarget) continue;
        ++hidden;
        ++places[i];
        CHECK(batch.targets[at] >= 5);
        const bool is_same = batch.ids[at] == batch.targets[at];
        if (!is_same && batch.ids[at] != 4) others.insert(batch.ids[at]);
        ++kinds[batch.ids[at] == 4 ? 0 : is_same ? 2 : 1];
      }
      CHECK(hidden == 15);
    }
  }
  const int all = 80 * 20 * 15;
  CHECK(std::abs(kinds[0] - 0.8 * all) < 250);  // 4 standard deviations of 24,000 draws: 248
  CHECK(std::abs(kinds[1] - 0.1 * all) < 186);
  CHECK(std::abs(kinds[2] - 0.1 * all) < 186);
  CHECK(others.size() > 850);
  CHECK(*others.rbegin() < kVocabulary);
  CHECK(places[0] == 0);
  CHECK(places[102] == 0);
  for (std::size_t i = 1; i < 102; ++i) CHECK(places[i] > 150);  // 240 of 1,600 in the mean
}

TEST_CASE("a masked sample hangs on seed, epoch and its number alone") {
  const auto samples = masked({200}, 23);
  REQUIRE(samples->rows() == 40);
  const SampleDraw draw{.seed = 5, .epoch = 2};
  const Batch whole = samples->batch(identity(40), 0, 40, draw);
  const Longs order = {7, 39, 0};
  const Batch few = samples->batch(order, 0, 2, draw);
  const Batch last = samples->batch(order, 1, 2, draw);
  CHECK(last.rows == 1);
  const auto row_of = [](const Batch& batch, std::size_t row) {
    const auto length = static_cast<std::ptrdiff_t>(batch.sequence);
    const auto from = static_cast<std::ptrdiff_t>(row) * length;
    Longs all(batch.ids.begin() + from, batch.ids.begin() + from + length);
    all.insert(all.end(), batch.targets.begin() + from, batch.targets.begin() + from + length);
    all.push_back(static_cast<std::int64_t>(batch.labels[row]));
    return all;
  };
  CHECK(row_of(few, 0) == row_of(whole, 7));
  CHECK(row_of(few, 1) == row_of(whole, 39));
  CHECK(row_of(last, 0) == row_of(whole, 0));
  CHECK(last.sample_ids == Longs{0});
  const auto ids = [&](const SampleDraw& other) {
    return samples->batch(identity(40), 0, 40, other).ids;
  };
  CHECK(ids(draw) == whole.ids);
  CHECK(ids({.seed = 6, .epoch = 2}) != whole.ids);
  CHECK(ids({.seed = 5, .epoch = 3}) != whole.ids);
  CHECK(ids({.seed = 5, .epoch = 0, .is_evaluation = true}) != ids({.seed = 5, .epoch = 0}));
  CHECK(ids({.seed = 5, .epoch = 1, .is_evaluation = true}) ==
        ids({.seed = 5, .epoch = 2, .is_evaluation = true}));
  CHECK(row_of(whole, 1) != row_of(whole, 2));
}

TEST_CASE("masked samples say why they cannot be made") {
  CHECK_THAT(message_of([] { masked({1, 1}, 16); }), Contains("no document has two sentences"));
  CHECK_THAT(message_of([] { masked({4}, 4); }), Contains("sequence 4 cannot hold a pair"));
  CHECK_THAT(message_of([] {
               const auto small = make_wordpiece({"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, "small");
               masked_samples(stream_of({4}), 16, *small, SentenceTask::kOrder);
             }),
             Contains("no [MASK]"));
}

TEST_CASE("rows with labels come through the same interface, unchanged") {
  DatasetInfo info;
  info.classes = 0;
  Split split;
  split.examples = {{"a", "", 1, 10}, {"a a", "", 2.5F, 11}};
  const auto tokenizer = make_wordpiece(kWords, "words");
  const EncodedSplit encoded = encode_split(info, split, *tokenizer, 5);
  const auto samples = labelled_samples(info, encoded);
  CHECK(samples->targets() == TargetKind::kScore);
  CHECK(samples->rows() == 2);
  const Batch batch = samples->batch(Longs{1, 0}, 0, 2, {});
  const Batch plain = make_batch(encoded, Longs{1, 0}, 0, 2);
  CHECK(batch.ids == plain.ids);
  CHECK(batch.labels == plain.labels);
  CHECK(batch.sample_ids == Longs{11, 10});
  CHECK(batch.targets.empty());
  info.content = Content::kText;
  CHECK_THAT(message_of([&] { encode_split(info, split, *tokenizer, 5); }),
             Contains("is a corpus without labels"));
}

}  // namespace
}  // namespace tersor::datasets
