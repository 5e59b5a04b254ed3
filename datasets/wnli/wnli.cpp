// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

const DatasetRegistrar kWnli{{
    .name = "wnli",
    .title = "GLUE WNLI: whether a sentence with its pronoun resolved follows",
    .source = "Levesque et al., KR 2012 (Winograd schemas); split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://dl.fbaipublicfiles.com/glue/data/WNLI.zip",
    .licence = "CC BY 4.0",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order",
    .pairs = true,
    .classes = 2,
    .metrics = {"accuracy"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/WNLI/train.tsv", 635,
               "9a88e9d54b6861cc796a088e9acf4f5f65064a9ef65ae6fa7a688b28391e5c9a"},
              {SplitName::kDev, "glue/WNLI/dev.tsv", 71,
               "cba00490596dd14be8cf53b4f53bb744abe3a7b89f81ab210528d80225338ed5"}},
    .fetched_as = "glue-wnli",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"index", "sentence1", "sentence2", "label"},
                        .header = true,
                        .text_a = "sentence1",
                        .text_b = "sentence2",
                        .label = "label",
                        .lowest_label = 0,
                        .highest_label = 1}),
}};

}  // namespace
}  // namespace tersor::datasets
