// SPDX-License-Identifier: Apache-2.0
#include "datasets/corpus.hpp"
#include "datasets/dataset.hpp"

namespace tersor::datasets {
namespace {

const DatasetRegistrar kWikiText{{
    .name = "wikitext-2",
    .title = "WikiText-2: good articles of Wikipedia as words, 2 million of train",
    .source = "Merity et al., Pointer Sentinel Mixture Models, ICLR 2017",
    .url = "https://wikitext.smerity.com/wikitext-2-v1.zip",
    .licence = "CC BY-SA 3.0",
    .subset_rule = "the first N tokens of wiki.train.tokens, the first M of wiki.valid.tokens",
    .metrics = {"perplexity"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "wikitext-2/wiki.train.tokens", 36718, ""},
              {SplitName::kDev, "wikitext-2/wiki.valid.tokens", 3760,
               "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"},
              {SplitName::kTest, "wikitext-2/wiki.test.tokens", 4358,
               "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"}},
    .vocabulary = {},
    .content = Content::kText,
    .lines = file_lines(),
}};

}  // namespace
}  // namespace tersor::datasets
