// SPDX-License-Identifier: Apache-2.0
// GLUE's sets whose files are seldom at hand, on made rows in their published format.
#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "datasets/dataset.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;
using testing::TempFolder;

constexpr const char* kMnliTrain =
    "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\t"
    "sentence1_parse\tsentence2_parse\tsentence1\tsentence2\tlabel1\tgold_label\n"
    "0\t31193\t31193n\tgovernment\t( a )\t( b )\t(ROOT a)\t(ROOT b)\tOne \"way.\tTwo.\tneutral\t"
    "neutral\n"
    "1\t1\t1e\ttelephone\t( a )\t( b )\t(ROOT a)\t(ROOT b)\tThree\tFour\tentailment\tentailment\n";
constexpr const char* kMnliDev =
    "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\t"
    "sentence1_parse\tsentence2_parse\tsentence1\tsentence2\tlabel1\tlabel2\tlabel3\tlabel4\t"
    "label5\tgold_label\n"
    "0\t1\t1c\tslate\tx\tx\tx\tx\tFive\tSix\tneutral\tcontradiction\tcontradiction\tcontradiction\t"
    "entailment\tcontradiction\n";

TEST_CASE("mnli: classes by name, both development files") {
  const TempFolder folder;
  folder.write("glue/MNLI/train.tsv", kMnliTrain);
  folder.write("glue/MNLI/dev_matched.tsv", kMnliDev);
  const Split train = load(find_dataset("mnli"), folder.path(), SplitName::kTrain);
  REQUIRE(train.examples.size() == 2);
  CHECK(train.examples[0].text_a == "One \"way.");
  CHECK(train.examples[0].text_b == "Two.");
  CHECK(train.examples[0].label == 1.0f);
  CHECK(train.examples[1].label == 0.0f);
  const Split dev = load(find_dataset("mnli"), folder.path(), SplitName::kDev);
  REQUIRE(dev.examples.size() == 1);
  CHECK(dev.examples[0].label == 2.0f);
  folder.write("glue/MNLI/dev_mismatched.tsv", std::string(kMnliDev) +
                                                   "1\t1\t1c\tx\tx\tx\tx\tx\tSeven\tEight\ta\ta\t"
                                                   "a\ta\ta\tneutral\n");
  const Split other = load(find_dataset("mnli_mismatched"), folder.path(), SplitName::kDev);
  REQUIRE(other.examples.size() == 2);
  CHECK(other.examples[1].text_b == "Eight");
  CHECK(load(find_dataset("mnli_mismatched"), folder.path(), SplitName::kTrain).content_hash ==
        train.content_hash);
  folder.write("glue/MNLI/dev_matched.tsv",
               std::string(kMnliDev) + "1\t1\t1c\tx\tx\tx\tx\tx\tA\tB\ta\ta\ta\ta\ta\t-\n");
  CHECK_THAT(message_of([&] { load(find_dataset("mnli"), folder.path(), SplitName::kDev); }),
             Contains("dev_matched.tsv:3: column 16 (gold_label): label '-' is none of entailment, "
                      "neutral, contradiction"));
}

TEST_CASE("qqp: rows with too few columns are left out, and counted in ids") {
  const TempFolder folder;
  folder.write("glue/QQP/train.tsv",
               "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
               "133273\t213221\t213222\tHow is life?\tWhat's \"it\"?\t1\n"
               "402555\t536040\n"
               "360472\t364011\t490273\tWhat?\t\t0\n");
  const Split train = load(find_dataset("qqp"), folder.path(), SplitName::kTrain);
  REQUIRE(train.examples.size() == 2);
  CHECK(train.examples[0].text_b == "What's \"it\"?");
  CHECK(train.examples[0].label == 1.0f);
  CHECK(train.examples[1].row == 2);
  CHECK(train.examples[1].text_b.empty());
  folder.write("glue/QQP/dev.tsv",
               "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t2\t3\ta\tb\t0\tmore\n");
  CHECK_THAT(message_of([&] { load(find_dataset("qqp"), folder.path(), SplitName::kDev); }),
             Contains("7 columns where there must be 6"));
}

TEST_CASE("qnli, rte and wnli: which class is which") {
  const TempFolder folder;
  folder.write("glue/QNLI/train.tsv",
               "index\tquestion\tsentence\tlabel\n0\tWhen?\tThen.\tentailment\n"
               "1\tWho?\tThey.\tnot_entailment\n");
  folder.write("glue/RTE/train.tsv",
               "index\tsentence1\tsentence2\tlabel\n0\tA text.\tA claim.\tnot_entailment\n");
  folder.write("glue/WNLI/train.tsv",
               "index\tsentence1\tsentence2\tlabel\n0\tIt is.\tThe lid is.\t1\n");
  const Split qnli = load(find_dataset("qnli"), folder.path(), SplitName::kTrain);
  REQUIRE(qnli.examples.size() == 2);
  CHECK(qnli.examples[0].text_a == "When?");
  CHECK(qnli.examples[0].label == 0.0f);
  CHECK(qnli.examples[1].label == 1.0f);
  CHECK(load(find_dataset("rte"), folder.path(), SplitName::kTrain).examples[0].label == 1.0f);
  CHECK(load(find_dataset("wnli"), folder.path(), SplitName::kTrain).examples[0].label == 1.0f);
}

}  // namespace
}  // namespace tersor::datasets
