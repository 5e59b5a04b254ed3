// SPDX-License-Identifier: Apache-2.0
#include "datasets/markov/markov.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "datasets/corpus.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

using Words = std::vector<std::uint8_t>;

nlohmann::json expected() {
  return nlohmann::json::parse(testing::read_source("datasets/markov/expected.json"));
}

TEST_CASE("markov: words and entropies are those that the page's definition gives") {
  const nlohmann::json golden = expected();
  CHECK(markov::words(SplitName::kTrain, 200) == golden["train"].get<Words>());
  CHECK(markov::words(SplitName::kDev, 200) == golden["dev"].get<Words>());
  const markov::Entropy entropy = markov::entropy();
  CHECK(entropy.rate == Approx(golden["rate"].get<double>()).epsilon(1e-10));
  CHECK(entropy.after_one == Approx(golden["after_one"].get<double>()).epsilon(1e-10));
  CHECK(std::exp(entropy.rate) ==
        Approx(find_dataset("markov").best_perplexity.value()).epsilon(0).margin(1e-4));
  CHECK(entropy.best_loss(2) == entropy.after_one);
  CHECK(entropy.best_loss(1001) ==
        Approx(entropy.rate + (entropy.after_one - entropy.rate) / 1000));
}

/// Mean -log probability of each word of `text` after its two predecessors, `probability(before,
/// last, word)`.
template <typename Probability>
double mean_loss(const Words& text, const Probability& probability) {
  double loss = 0;
  for (std::size_t i = 2; i < text.size(); ++i)
    loss -= std::log(probability(text[i - 2], text[i - 1], text[i]));
  return loss / static_cast<double>(text.size() - 2);
}

TEST_CASE("markov: no better perplexity than the known one, and counting comes near it") {
  const double rate = markov::entropy().rate;
  const Words train = markov::words(SplitName::kTrain, 1 << 20);
  const Words dev = markov::words(SplitName::kDev, 1 << 20);
  const markov::Tables tables = markov::tables();
  // The source itself: its mean loss is the rate but for chance. The standard error of the mean is
  // below 0.001 for 2^20 words, whose losses lie between log(8) and 0.
  const double truth = mean_loss(dev, [&](std::uint8_t before, std::uint8_t last, std::uint8_t w) {
    const auto& a = tables.last[last];
    const auto& b = tables.before[before];
    return static_cast<double>(std::count(a.begin(), a.end(), w) +
                               std::count(b.begin(), b.end(), w)) /
           8;
  });
  CHECK(truth == Approx(rate).margin(0.004));
  // A trigram count with add-one smoothing knows nothing of the source: above it, by what it has
  // to learn of 4,096 pairs from 2^20 words.
  std::vector<double> trigrams(64 * 64 * 64, 0.02);
  std::vector<double> pairs(64 * 64, 64 * 0.02);
  std::vector<double> bigrams(64 * 64, 0.02);
  std::vector<double> singles(64, 64 * 0.02);
  for (std::size_t i = 2; i < train.size(); ++i) {
    const std::size_t pair = train[i - 2] * 64U + train[i - 1];
    trigrams[pair * 64 + train[i]] += 1;
    pairs[pair] += 1;
    bigrams[train[i - 1] * 64U + train[i]] += 1;
    singles[train[i - 1]] += 1;
  }
  const double counted =
      mean_loss(dev, [&](std::uint8_t before, std::uint8_t last, std::uint8_t w) {
        const std::size_t pair = before * 64U + last;
        return trigrams[pair * 64 + w] / pairs[pair];
      });
  CHECK(counted > truth);
  CHECK(counted < truth + 0.03);
  const double one_back = mean_loss(dev, [&](std::uint8_t, std::uint8_t last, std::uint8_t w) {
    return bigrams[last * 64U + w] / singles[last];
  });
  CHECK(one_back == Approx(markov::entropy().after_one).margin(0.01));
}

TEST_CASE("markov: any number of tokens, the same from the beginning") {
  const DatasetInfo& info = find_dataset("markov");
  const auto tokenizer = make_wordpiece(info.vocabulary, "markov");
  CHECK(tokenizer->vocabulary_size() == 69);
  const TokenStream all = read_stream(info, "", SplitName::kDev, tokenizer.get());
  CHECK(all.ids.size() == 65'536);
  const Words words = markov::words(SplitName::kDev, 65'536);
  for (std::size_t i = 0; i < words.size(); ++i) REQUIRE(all.ids[i] == words[i] + 5);
  const TokenStream more = read_stream(info, "", SplitName::kDev, tokenizer.get(), 100'003);
  REQUIRE(more.ids.size() == 100'003);
  CHECK(std::equal(all.ids.begin(), all.ids.end(), more.ids.begin()));
  const TokenStream sentences = read_sentences(info, "", SplitName::kDev, *tokenizer);
  CHECK(sentences.ids == all.ids);
  CHECK(sentences.sentences.size() == 4096);
  CHECK(sentences.documents.size() == 64);
  CHECK(load(info, "", SplitName::kTrain, 3).examples[2].row == 2);
  CHECK(load(info, "", SplitName::kDev).examples.size() == 4160);
}

}  // namespace
}  // namespace tersor::datasets
