// SPDX-License-Identifier: Apache-2.0
#include "datasets/tsv.hpp"

#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "datasets/testing/paths.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;
using testing::TempFolder;

constexpr const char* kFile = "glue/Toy/train.tsv";

DatasetInfo toy(int classes, bool has_header, std::int64_t published_rows) {
  DatasetInfo info;
  info.name = "toy";
  info.url = "https://example.org/toy.zip";
  info.classes = classes;
  info.pairs = true;
  info.metrics = {"accuracy"};
  info.files = {{SplitName::kTrain, kFile, published_rows, ""}};
  info.read = tsv_reader({.columns = {"id", "one", "two", "label"},
                          .header = has_header,
                          .text_a = "one",
                          .text_b = "two",
                          .label = "label",
                          .lowest_label = 0,
                          .highest_label = classes == 0 ? 5.0 : classes - 1.0});
  return info;
}

Split read(std::string_view content, int classes = 2, bool has_header = true,
           std::int64_t max_rows = 0, std::int64_t published_rows = 1) {
  const TempFolder folder;
  folder.write(kFile, content);
  return load(toy(classes, has_header, published_rows), folder.path(), SplitName::kTrain, max_rows);
}

std::string refusal(std::string_view content, int classes = 2, std::int64_t published_rows = 1) {
  return message_of([&] { read(content, classes, true, 0, published_rows); });
}

TEST_CASE("GLUE's TSV has no quoting, may have a byte-order mark, CRLF and no last newline") {
  const Split split =
      read("\xEF\xBB\xBFid\tone\ttwo\tlabel\r\n7\t\" he said\t\"\"\t1\r\n8\t\t b \t0");
  REQUIRE(split.examples.size() == 2);
  CHECK(split.examples[0].text_a == "\" he said");
  CHECK(split.examples[0].text_b == "\"\"");
  CHECK(split.examples[0].label == 1.0f);
  CHECK(split.examples[0].row == 0);
  CHECK(split.examples[1].text_a.empty());
  CHECK(split.examples[1].text_b == " b ");
  CHECK(split.examples[1].row == 1);
}

TEST_CASE("columns are found by the header's names") {
  const Split split = read("label\ttwo\textra\tone\n1\tB\t-\tA\n");
  CHECK(split.examples[0].text_a == "A");
  CHECK(split.examples[0].text_b == "B");
}

TEST_CASE("a file without a header and a regression") {
  const Split split = read("0\ta\tb\t3.800\n1\tc\td\t0\n", 0, false);
  REQUIRE(split.examples.size() == 2);
  CHECK(split.examples[0].label == 3.8f);
}

TEST_CASE("max_rows takes the first rows and does not look at the others") {
  const std::string text = "id\tone\ttwo\tlabel\n0\ta\tb\t0\n1\tc\td\t1\nbroken";
  CHECK(read(text, 2, true, 2).examples.size() == 2);
  CHECK_THAT(refusal(text), Contains(":4: column 2 (one): 1 columns where there must be 4"));
}

TEST_CASE("the content hash is of the rows read") {
  const std::string head = "id\tone\ttwo\tlabel\n";
  const Split split = read(head + "0\ta\tbc\t1\n");
  // Python: xxhash.xxh64(struct.pack('<qfQ', 0, 1, 1) + b'a' + struct.pack('<Q', 2) + b'bc')
  CHECK(split.content_hash == 0xd17b6db14155f10fULL);
  CHECK(read(head + "9\ta\tbc\t1\n0\tx\ty\t0\n", 2, true, 1).content_hash == split.content_hash);
  CHECK(read(head + "0\tab\tc\t1\n").content_hash != split.content_hash);
  CHECK(read(head + "0\ta\tbc\t0\n").content_hash != split.content_hash);
}

TEST_CASE("malformed files tell file, line, column, what is expected and where to get it") {
  const std::string head = "id\tone\ttwo\tlabel\n";
  const std::string label = refusal(head + "0\ta\tb\t1\n1\ta\tb\t2\n");
  CHECK_THAT(label, Contains("glue/Toy/train.tsv:3: column 4 (label): label '2' is not a whole "
                             "number from 0 to 1"));
  CHECK_THAT(label, Contains("expected id<TAB>one<TAB>two<TAB>label"));
  CHECK_THAT(label, Contains("https://example.org/toy.zip"));
  for (const char* bad : {"", "x", "1x", "0.5", "-1", "nan", "inf", "1e400", " 1", "0x1"})
    CHECK_THAT(refusal(head + "0\ta\tb\t" + bad + "\n"), Contains("is not a whole number"));
  CHECK_THAT(refusal(head + "0\ta\tb\t5.1\n", 0), Contains("is not a number from 0 to 5"));
  CHECK_THAT(refusal(head + "0\ta\tb\t1\textra\n"), Contains(":2: column 5: 5 columns where"));
  CHECK_THAT(refusal(head + "0\ta\tb\t1\n\n"), Contains(":3: column 2 (one): 1 columns"));
  CHECK_THAT(refusal(head + "0\ta\xC3(\tb\t1\n"),
             Contains(":2: column 2 (one): byte 2 of the field is not valid UTF-8"));
  CHECK_THAT(refusal("id\tone\tlabel\n"), Contains(":1: no column 'two' in the header"));
  CHECK_THAT(refusal(""), Contains(":1: the file is empty"));
  CHECK_THAT(refusal(head), Contains("the train split has no rows"));
}

TEST_CASE("lines of any length up to the limit are read, across what is read at a time") {
  for (const std::size_t length : {65'500UL, 65'536UL, 200'000UL, 1'048'500UL}) {
    const std::string text(length, 'x');
    const Split split = read("id\tone\ttwo\tlabel\n1\t" + text + "\tb\t1\n2\ta\tb\t0\n");
    REQUIRE(split.examples.size() == 2);
    CHECK(split.examples[0].text_a == text);
    CHECK(split.examples[1].text_a == "a");
  }
  CHECK_THAT(refusal("id\tone\ttwo\tlabel\n1\t" + std::string(2'000'000, 'x') + "\tb\t1\n"),
             Contains("train.tsv:2: the line has more than 1048576 bytes"));
}

TEST_CASE("a file that was cut short is noticed") {
  const std::string text = "id\tone\ttwo\tlabel\n0\ta\tb\t1\n1\ta\tb";
  CHECK_THAT(refusal(text), Contains("the file ends in this line: cut short?"));
  CHECK_THAT(refusal(text + "\t1", 2, 3),
             Contains(":3: the last line has no newline") && Contains("3 rows"));
  CHECK(read(text + "\t1", 2, true, 0, 2).examples.size() == 2);
  CHECK(read(text + "\t1\n", 2, true, 0, 3).examples.size() == 2);
}

TEST_CASE("every cut of a file gives rows or an error") {
  const std::string whole =
      "\xEF\xBB\xBFid\tone\ttwo\tlabel\r\n0\tcaf\xC3\xA9\tb\t1\r\n1\t\"\t\xE4\xBA\xAC\t0\r\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    CAPTURE(length);
    std::size_t rows = 0;
    try {
      rows = read(whole.substr(0, length), 2, true, 0, 2).examples.size();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kData);
    }
    // 34 bytes: header and first row with their newlines, an excerpt.
    CHECK(rows == (length == 34 ? 1 : length >= whole.size() - 2 ? 2 : 0));
  }
}

TEST_CASE("missing files are named, with where to get them") {
  const TempFolder folder;
  const DatasetInfo info = toy(2, true, 1);
  const std::string message = message_of([&] { load(info, folder.path(), SplitName::kTrain); });
  CHECK_THAT(message, Contains((folder.path() / kFile).string() + ": there is no such file"));
  CHECK_THAT(message, Contains("https://example.org/toy.zip"));
  CHECK_THAT(message_of([&] { load(info, "", SplitName::kTrain); }),
             Contains("no data folder given") && Contains("TERSOR_DATA"));
  CHECK_FALSE(available(info, folder.path()).available);
  CHECK(available(info, folder.path()).missing ==
        std::vector<std::string>{(folder.path() / kFile).string()});
  CHECK_THAT(available(info, "").remedy, Contains("https://example.org/toy.zip"));
  std::filesystem::create_directories(folder.path() / kFile);
  CHECK_THAT(message_of([&] { load(info, folder.path(), SplitName::kTrain); }),
             Contains("is a folder"));
  CHECK_THAT(message_of([&] { load(info, folder.path(), SplitName::kTrain, -1); }),
             Contains("-1 rows"));
}

}  // namespace
}  // namespace tersor::datasets
