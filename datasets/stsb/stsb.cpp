// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

const DatasetRegistrar kStsb{{
    .name = "stsb",
    .title = "GLUE STS-B: how similar two sentences are, 0 to 5",
    .source = "Cer et al., SemEval 2017; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/STS-B.zip",
    .licence = "that of each source; see the STS benchmark's page",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order",
    .pairs = true,
    .classes = 0,
    .metrics = {"pearson", "spearman"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/STS-B/train.tsv", 5749,
               "41c4d978b6162abdcada7e49a982211954cca5459c228db478af333124b257a2"},
              {SplitName::kDev, "glue/STS-B/dev.tsv", 1500,
               "fe7dc0632a5033562f3cadff991f6e8d9b9b6311861660e78c3c82eb7db67f59"}},
    .fetched_as = "glue-stsb",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"index", "genre", "filename", "year", "old_index", "source1",
                                    "source2", "sentence1", "sentence2", "score"},
                        .header = true,
                        .text_a = "sentence1",
                        .text_b = "sentence2",
                        .label = "score",
                        .lowest_label = 0,
                        .highest_label = 5}),
}};

}  // namespace
}  // namespace tersor::datasets
