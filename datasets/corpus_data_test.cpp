// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "datasets/corpus.hpp"
#include "datasets/samples.hpp"
#include "datasets/testing/paths.hpp"
#include "datasets/vocabulary_cut.hpp"

namespace tersor::datasets {
namespace {

// Expected by Python with `tokenizers`: lines of blanks left out, the others encoded one by one
// with their newlines; the set of the ids of both files.
TEST_CASE("WikiText-2 by GPT-2's tokenizer: as many tokens, and different ones, as elsewhere") {
  const auto root = testing::data_root_or_skip("wikitext-2/wiki.valid.tokens");
  if (root.empty() || testing::data_root_or_skip("gpt2-bpe/vocab.json").empty()) return;
  const DatasetInfo& info = find_dataset("wikitext-2");
  const auto tokenizer = open_tokenizer(root / "gpt2-bpe");
  const TokenStream dev = read_stream(info, root, SplitName::kDev, tokenizer.get());
  const TokenStream test = read_stream(info, root, SplitName::kTest, tokenizer.get());
  CHECK(dev.ids.size() == 256061);
  CHECK(test.ids.size() == 292943);
  CHECK(count_lines(info, root, SplitName::kTest) == 4358);
  CHECK(causal_samples(dev, 1024)->rows() == 256061 / 1024);
  DatasetInfo both = info;  // the training file is not at hand
  both.files.erase(both.files.begin());
  CHECK(cut_vocabulary(both, root, tokenizer.get()).kept.size() == 18011 + 1);  // end of text
}

TEST_CASE("WikiText-2's articles give masked pairs") {
  const auto root = testing::data_root_or_skip("wikitext-2/wiki.valid.tokens");
  if (root.empty()) return;
  const DatasetInfo& info = find_dataset("wikitext-2");
  const auto tokenizer =
      make_tokenizer(info, "", load(info, root, SplitName::kDev));  // its most frequent words
  const auto samples = masked_samples(read_sentences(info, root, SplitName::kDev, *tokenizer), 128,
                                      *tokenizer, SentenceTask::kOrder);
  CHECK(samples->rows() > 1500);
  CHECK(samples->rows() < 2500);
}

}  // namespace
}  // namespace tersor::datasets
