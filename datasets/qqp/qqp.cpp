// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

// No SHA-256 is given where none is published with the file.
const DatasetRegistrar kQqp{{
    .name = "qqp",
    .title = "GLUE QQP: whether two questions of Quora ask the same",
    .source =
        "Iyer et al., First Quora Dataset Release, 2017; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/QQP-clean.zip",
    .licence = "Quora's terms of service, non-commercial use",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order; "
                   "rows with too few columns are left out and counted in ids",
    .pairs = true,
    .classes = 2,
    .metrics = {"f1", "accuracy"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/QQP/train.tsv", 363846, ""},
              {SplitName::kDev, "glue/QQP/dev.tsv", 40430, ""}},
    .fetched_as = "",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"id", "qid1", "qid2", "question1", "question2", "is_duplicate"},
                        .header = true,
                        .text_a = "question1",
                        .text_b = "question2",
                        .label = "is_duplicate",
                        .lowest_label = 0,
                        .highest_label = 1,
                        .skips_short_rows = true}),
}};

}  // namespace
}  // namespace tersor::datasets
