// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

// No SHA-256 is given where none is published with the file.
const DatasetRegistrar kQnli{{
    .name = "qnli",
    .title = "GLUE QNLI: whether a sentence holds the answer to a question",
    .source = "Rajpurkar et al., EMNLP 2016; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/QNLIv2.zip",
    .licence = "CC BY-SA 4.0 (SQuAD)",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order",
    .pairs = true,
    .classes = 2,
    .metrics = {"accuracy"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/QNLI/train.tsv", 104743, ""},
              {SplitName::kDev, "glue/QNLI/dev.tsv", 5463,
               "ac19409dcb04631eaaa094bdebdcf621086bc352503dfb6a1a648b614986f4fd"}},
    .fetched_as = "glue-qnli --trust-first",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"index", "question", "sentence", "label"},
                        .header = true,
                        .text_a = "question",
                        .text_b = "sentence",
                        .label = "label",
                        .lowest_label = 0,
                        .highest_label = 1,
                        .labels = {"entailment", "not_entailment"}}),
}};

}  // namespace
}  // namespace tersor::datasets
