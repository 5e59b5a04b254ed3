// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"
#include "datasets/tsv.hpp"

namespace tersor::datasets {
namespace {

// The published train.tsv has 3,668 rows; copies with 3,667 are in use too, so the smaller number
// is given here (a file with fewer rows and no last newline counts as cut short).
const DatasetRegistrar kMrpc{{
    .name = "mrpc",
    .title = "GLUE MRPC: whether two sentences of news mean the same",
    .source = "Dolan and Brockett, IWP 2005; split of GLUE (Wang et al., ICLR 2019)",
    .url = "https://gluebenchmark.com/tasks (GLUE's download script builds MRPC's files)",
    .licence = "Microsoft Research licence of the paraphrase corpus; research use",
    .subset_rule = "the first N rows of GLUE's train.tsv, the first M of dev.tsv, in file order",
    .pairs = true,
    .classes = 2,
    .metrics = {"f1", "accuracy"},
    .best_accuracy = std::nullopt,
    .files = {{SplitName::kTrain, "glue/MRPC/train.tsv", 3667,
               "f178bcc72ab4c2c1c778b480912e0c8e1dba3ead150dc1d490d70682ab888c1e"},
              {SplitName::kDev, "glue/MRPC/dev.tsv", 408,
               "9e8f284788040f7c9ecde2e1b3c07237c756f926bd9ef8548ef5d34b56f69f17"}},
    .fetched_as = "glue-mrpc",
    .vocabulary = {},
    .read = tsv_reader({.columns = {"Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"},
                        .header = true,
                        .text_a = "#1 String",
                        .text_b = "#2 String",
                        .label = "Quality"}),
}};

}  // namespace
}  // namespace tersor::datasets
