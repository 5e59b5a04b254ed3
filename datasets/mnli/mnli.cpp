// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

// No SHA-256 is given where none is published with the file.
// The development files have label2 to label5 too; columns are found by name.
const DatasetRegistrar kMnli{{
    .name = "mnli",
    .title = "GLUE MNLI: entailment, neutral or contradiction; dev of the genres of train",
    .source = "Williams et al., NAACL 2018; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/MNLI.zip",
    .licence = "OANC's, CC BY 3.0 and CC BY-SA 3.0 by genre, see the corpus paper",
    .subset_rule =
        "the first N rows of GLUE's train.tsv, the first M of dev_matched.tsv, in file order",
    .pairs = true,
    .classes = 3,
    .metrics = {"accuracy"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/MNLI/train.tsv", 392702, ""},
              {SplitName::kDev, "glue/MNLI/dev_matched.tsv", 9815, ""}},
    .fetched_as = "",
    .vocabulary = {},
    .read =
        tsv_reader({.columns = {"index", "promptID", "pairID", "genre", "sentence1_binary_parse",
                                "sentence2_binary_parse", "sentence1_parse", "sentence2_parse",
                                "sentence1", "sentence2", "label1", "gold_label"},
                    .header = true,
                    .text_a = "sentence1",
                    .text_b = "sentence2",
                    .label = "gold_label",
                    .lowest_label = 0,
                    .highest_label = 2,
                    .labels = {"entailment", "neutral", "contradiction"}}),
}};

}  // namespace
}  // namespace tersor::datasets
