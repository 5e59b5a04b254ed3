// SPDX-License-Identifier: Apache-2.0
#include "datasets/corpus.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "common/error.hpp"
#include "datasets/corpus_file.hpp"
#include "datasets/testing/paths.hpp"
#include "datasets/vocabulary_cut.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;
using testing::TempFolder;
using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string_view>;

std::unique_ptr<Tokenizer> letters() {
  return make_wordpiece(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", ".", "d", "e"}, "letters");
}

std::string bytes_of(const std::vector<std::uint32_t>& values, std::size_t width) {
  std::string bytes;
  for (const std::uint32_t value : values)
    for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  const std::string length{static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + length + header + data;
}

std::string llm_c(std::uint32_t magic, const std::vector<std::uint32_t>& ids, std::size_t width) {
  std::vector<std::uint32_t> header(256, 0);
  header[0] = magic;
  header[1] = 1;
  header[2] = static_cast<std::uint32_t>(ids.size());
  return bytes_of(header, 4) + bytes_of(ids, width);
}

std::vector<std::uint32_t> hundred() {
  std::vector<std::uint32_t> ids(100);
  std::iota(ids.begin(), ids.end(), 1000U);
  return ids;
}

TEST_CASE("sentences end with a mark before white space, or with one between blanks") {
  CHECK(sentences_of("A b. C d! E? f\n") == Texts{"A b.", "C d!", "E?", "f"});
  CHECK(sentences_of(" H. americanus is , he said . So it is . \n") ==
        Texts{"H. americanus is , he said .", "So it is ."});
  CHECK(sentences_of("3.14 a.b ...") == Texts{"3.14 a.b ..."});
  CHECK(sentences_of(" \n").empty());
  CHECK(sentences_of("").empty());
}

TEST_CASE("a text file is a corpus by its path, cut 90, 5 and 5 % at lines") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 100; ++i) text += i < 90 ? "a\n" : i < 95 ? "b\n" : "c\n";
  const std::string path = folder.write("some.txt", text).string();
  const DatasetInfo& info = find_dataset(path);
  CHECK(info.content == Content::kText);
  CHECK(&find_dataset(path) == &info);
  CHECK(available(info, "").available);
  const auto tokenizer = letters();
  const auto ids = [&](SplitName split, std::int64_t most = 0) {
    return read_stream(info, "", split, tokenizer.get(), most).ids;
  };
  CHECK(ids(SplitName::kTrain) == Ids(90, 5));
  CHECK(ids(SplitName::kDev) == Ids(5, 6));
  CHECK(ids(SplitName::kTest) == Ids(5, 7));
  CHECK(ids(SplitName::kTrain, 7) == Ids(7, 5));
  CHECK(load(info, "", SplitName::kDev).examples.front().text_a == "b");
  // Below the data root; a line belongs to the split that its first byte is in.
  folder.write("sub/x.tokens", "a a a a a a a a a a a a a a\nb\nc\n");
  const DatasetInfo& other = find_dataset("sub/x.tokens");
  CHECK_FALSE(available(other, "").available);
  CHECK(read_stream(other, folder.path(), SplitName::kTrain, tokenizer.get()).ids.size() == 14);
  CHECK(read_stream(other, folder.path(), SplitName::kTest, tokenizer.get()).ids == Ids{7});
  CHECK(read_stream(other, folder.path(), SplitName::kDev, tokenizer.get()).ids == Ids{6});
  const DatasetInfo& one = find_dataset(folder.write("one.txt", "a b c\n").string());
  // Python: xxhash.xxh64(struct.pack('<QQ', 0, 6) + b'a b c\\n')
  CHECK(read_stream(one, "", SplitName::kTrain, tokenizer.get()).content_hash ==
        0x6588d648b5c08528ULL);
  CHECK_THAT(message_of([&] { read_stream(one, "", SplitName::kDev, tokenizer.get()); }),
             Contains("the dev split has no tokens"));
  CHECK_THAT(message_of([&] {
               read_stream(find_dataset("/none.txt"), "", SplitName::kDev, tokenizer.get());
             }),
             Contains("no file /none.txt; give an absolute path"));
}

TEST_CASE("what is no text is refused with file and line") {
  const TempFolder folder;
  const auto complaint = [&](std::string_view text) {
    const DatasetInfo& info = find_dataset(folder.write("x.txt", text).string());
    return message_of([&] { load(info, "", SplitName::kTrain); });
  };
  CHECK_THAT(complaint("a\nb\xFF\n" + std::string(200, '\n')),
             Contains("x.txt:2: byte 2 of the line is not valid UTF-8"));
  CHECK_THAT(complaint("a\n" + std::string(17 << 20, 'a')), Contains("x.txt:2: a line of more"));
  CHECK_THAT(message_of([&] {
               const auto tokenizer = letters();
               read_stream(find_dataset("sst2"), "", SplitName::kTrain, tokenizer.get());
             }),
             Contains("sst2 has rows with labels"));
}

TEST_CASE("token files: NumPy's and llm.c's, cut 90, 5 and 5 %") {
  const TempFolder folder;
  const auto check = [&](const std::string& name, const std::string& content) {
    CAPTURE(name);
    const DatasetInfo& info = find_dataset(folder.write(name, content).string());
    const TokenStream train = read_stream(info, "", SplitName::kTrain, nullptr);
    REQUIRE(train.ids.size() == 90);
    CHECK(train.ids.back() == 1089);
    CHECK(train.vocabulary == 1090);
    CHECK(read_stream(info, "", SplitName::kDev, nullptr).ids == Ids{1090, 1091, 1092, 1093, 1094});
    CHECK(read_stream(info, "", SplitName::kTest, nullptr).ids.front() == 1095);
    CHECK(read_stream(info, "", SplitName::kTrain, nullptr, 3).ids == Ids{1000, 1001, 1002});
    return train.content_hash;
  };
  const std::uint64_t hash = check("a.npy", npy("<u2", "(100,)", bytes_of(hundred(), 2)));
  CHECK(hash == 0x177e4bdc9346b410ULL);  // Python: xxhash.xxh64 of 1000 .. 1089, '<I' each
  CHECK(check("b.npy", npy("<u4", "(100,)", bytes_of(hundred(), 4))) == hash);
  CHECK(check("c.bin", llm_c(20240520, hundred(), 2)) == hash);
  CHECK(check("d.bin", llm_c(20240801, hundred(), 4)) == hash);

  const auto complaint = [&](const std::string& name, const std::string& content) {
    const DatasetInfo& info = find_dataset(folder.write(name, content).string());
    return message_of([&] { read_stream(info, "", SplitName::kTrain, nullptr); });
  };
  CHECK_THAT(complaint("e.bin", bytes_of(hundred(), 2)), Contains("no header of llm.c"));
  CHECK_THAT(complaint("f.bin", llm_c(20240520, hundred(), 2) + "x"),
             Contains("tells 100 ids of 2 bytes, 201 bytes follow"));
  CHECK_THAT(complaint("g.npy", npy("<f4", "(100,)", bytes_of(hundred(), 4))),
             Contains("dtype '<f4' of 1 dimensions"));
  CHECK_THAT(complaint("h.npy", npy("<u2", "(101,)", bytes_of(hundred(), 2))),
             Contains("cut short?"));
  CHECK_THAT(complaint("i.npy", npy("<u4", "(2,)", bytes_of({0x80000000U, 1}, 4))),
             Contains("id 0 is no token: 2147483648 is 2^31 or more"));
  const DatasetInfo& tokens = find_dataset((folder.path() / "a.npy").string());
  CHECK_THAT(message_of([&] { load(tokens, "", SplitName::kTrain); }), Contains("holds token ids"));
  CHECK_THAT(message_of([&] { read_sentences(tokens, "", SplitName::kTrain, *letters()); }),
             Contains("do not tell where sentences end"));
}

TEST_CASE("every cut of a token file gives ids or an error") {
  const TempFolder folder;
  const auto check = [&](const std::string& name, const std::string& whole) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(name, length);
      const DatasetInfo& info = find_dataset(folder.write(name, whole.substr(0, length)).string());
      try {
        read_stream(info, "", SplitName::kTrain, nullptr);
        CHECK(length == whole.size());
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::kData);
      }
    }
  };
  check("a.npy", npy("<u2", "(100,)", bytes_of(hundred(), 2)));
  check("b.bin", llm_c(20240801, hundred(), 4));
}

TEST_CASE("WikiText's lines of blanks are left out, empty lines are newlines") {
  const TempFolder folder;
  folder.write("wikitext-2/wiki.valid.tokens", " \n = T = \n \n a . b . \n c \n\n d e \n");
  const DatasetInfo& info = find_dataset("wikitext-2");
  const auto tokenizer = letters();
  CHECK(read_stream(info, folder.path(), SplitName::kDev, tokenizer.get()).ids ==
        Ids{1, 1, 1, 5, 8, 6, 8, 7, 9, 10});
  const TokenStream pairs = read_sentences(info, folder.path(), SplitName::kDev, *tokenizer);
  CHECK(pairs.sentences == std::vector<std::int64_t>{0, 3, 5, 7, 8});
  CHECK(pairs.documents == std::vector<std::int64_t>{0, 1, 4});
  CHECK_THAT(
      message_of([&] { read_stream(info, folder.path(), SplitName::kTrain, tokenizer.get()); }),
      Contains("wiki.train.tokens is not there") && Contains("get https://"));
  folder.write("wikitext-2/wiki.valid.tokens", " a \n b");
  CHECK_THAT(message_of([&] { load(info, folder.path(), SplitName::kDev); }),
             Contains("valid.tokens:2: the last line has no newline") && Contains("3760 lines"));
}

TEST_CASE("a vocabulary cut to a corpus is a function of its files alone") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += i < 39 ? "a d a\n" : "c\n";
  const DatasetInfo& info = find_dataset(folder.write("x.txt", text).string());
  const auto whole = letters();
  const VocabularyCut cut = cut_vocabulary(info, "", whole.get());
  CHECK(cut.kept == Ids{0, 2, 3, 4, 5, 7, 9});  // c stands in the test split
  CHECK(cut.hash == cut_vocabulary(info, "", whole.get()).hash);
  const auto small = cut_tokenizer(letters(), cut);
  CHECK(small->vocabulary_size() == 7);
  CHECK(small->mask_id() == 3);
  CHECK(small->sep_id() == 2);
  CHECK(small->encode("a c d") == Ids{4, 5, 6});
  CHECK_THAT(message_of([&] { small->encode("b"); }),
             Contains("token 6 does not occur in the corpus"));
  const DatasetInfo& tokens =
      find_dataset(folder.write("x.npy", npy("<u2", "(100,)", bytes_of(hundred(), 2))).string());
  CHECK(cut_vocabulary(tokens, "", nullptr).kept.size() == 100);
}

}  // namespace
}  // namespace tersor::datasets
