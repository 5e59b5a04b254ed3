// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

const DatasetRegistrar kCola{{
    .name = "cola",
    .title = "GLUE CoLA: whether a sentence is grammatical English",
    .source = "Warstadt et al., TACL 2019; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/CoLA.zip",
    .licence = "not stated for all texts; from published linguistics literature, research use",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order",
    .pairs = false,
    .classes = 2,
    .metrics = {"matthews"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/CoLA/train.tsv", 8551,
               "cb368ebeb9f27d7ad03720d27ddc95687a311bdb100781a2fe59a5f5b1bc0624"},
              {SplitName::kDev, "glue/CoLA/dev.tsv", 1043,
               "8c013e21dc39957cac37378d87bebe225b694a0d5fe13eded66c2856628833fd"}},
    .fetched_as = "glue-cola",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"source", "label", "original mark", "sentence"},
                        .header = false,
                        .text_a = "sentence",
                        .text_b = "",
                        .label = "label"}),
}};

}  // namespace
}  // namespace tersor::datasets
