// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

const DatasetRegistrar kRte{{
    .name = "rte",
    .title = "GLUE RTE: whether a text entails a sentence",
    .source =
        "RTE1 (Dagan et al. 2006), RTE2, RTE3 and RTE5; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/RTE.zip",
    .licence = "not stated; research use",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order",
    .pairs = true,
    .classes = 2,
    .metrics = {"accuracy"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/RTE/train.tsv", 2490,
               "41e3a9b063433392343fad9e962cf2f58b681c78d8f71592f4186f0837246c5c"},
              {SplitName::kDev, "glue/RTE/dev.tsv", 277,
               "80230dfa1347282e7b532b06a1004a76a710087541189bf874223ddf0e3819fb"}},
    .fetched_as = "glue-rte",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"index", "sentence1", "sentence2", "label"},
                        .header = true,
                        .text_a = "sentence1",
                        .text_b = "sentence2",
                        .label = "label",
                        .lowest_label = 0,
                        .highest_label = 1,
                        .labels = {"entailment", "not_entailment"}}),
}};

}  // namespace
}  // namespace tersor::datasets
