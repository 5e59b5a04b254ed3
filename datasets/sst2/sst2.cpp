// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

const DatasetRegistrar kSst2{{
    .name = "sst2",
    .title = "GLUE SST-2: sentiment of phrases from film reviews",
    .source = "Socher et al., EMNLP 2013; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/SST-2.zip",
    .licence = "not stated by the authors; research use, see the Stanford Sentiment Treebank",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order",
    .pairs = false,
    .classes = 2,
    .metrics = {"accuracy"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/SST-2/train.tsv", 67349,
               "48eac26399f8456935f81dd9e3a745c1430adb6c62e233ccfe22db4a0d15d1d1"},
              {SplitName::kDev, "glue/SST-2/dev.tsv", 872,
               "54a9c12c77e402fc14d6a66a506f24d999f596b0176eb777c972cccc2f9cc4b0"}},
    .fetched_as = "glue-sst2",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"sentence", "label"},
                        .header = true,
                        .text_a = "sentence",
                        .text_b = "",
                        .label = "label"}),
}};

}  // namespace
}  // namespace tersor::datasets
