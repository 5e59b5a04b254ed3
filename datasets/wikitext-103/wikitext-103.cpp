// SPDX-License-Identifier: Apache-2.0
#include "datasets/corpus.hpp"
#include "datasets/dataset.hpp"

namespace tersor::datasets {
namespace {

// The validation and test files are those of WikiText-2.
const DatasetRegistrar kWikiText{{
    .name = "wikitext-103",
    .title = "WikiText-103: good articles of Wikipedia as words, 103 million of train",
    .source = "Merity et al., Pointer Sentinel Mixture Models, ICLR 2017",
    .url = "https://wikitext.smerity.com/wikitext-103-v1.zip",
    .licence = "CC BY-SA 3.0",
    .subset_rule = "the first N tokens of wiki.train.tokens, the first M of wiki.valid.tokens",
    .metrics = {"perplexity"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "wikitext-103/wiki.train.tokens", 1801350, ""},
              {SplitName::kDev, "wikitext-103/wiki.valid.tokens", 3760,
               "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"},
              {SplitName::kTest, "wikitext-103/wiki.test.tokens", 4358,
               "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"}},
    .vocabulary = {},
    .content = Content::kText,
    .lines = file_lines(),
}};

}  // namespace
}  // namespace tersor::datasets
