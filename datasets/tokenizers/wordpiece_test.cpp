// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "datasets/testing/paths.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;
using Ids = std::vector<std::int32_t>;
using Words = std::vector<std::string>;

const Words kSmall = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "##b"};

nlohmann::json expected() {
  return nlohmann::json::parse(testing::read_source("datasets/tokenizers/expected.json"));
}

/// "text": uncased; "cased"; "accented": lower case, accents kept, CJK characters not split.
void check_texts(const char* key, const WordPieceOptions& options) {
  const nlohmann::json golden = expected();
  const auto tokenizer = make_wordpiece(golden["vocabulary"].get<Words>(), "golden", options);
  std::size_t texts = 0;
  for (const auto& item : golden["cases"]) {
    if (!item.contains(key)) continue;
    CAPTURE(item.dump());
    CHECK(tokenizer->encode(item[key].get<std::string>()) == item["ids"].get<Ids>());
    ++texts;
  }
  CHECK(texts > 50);
}

TEST_CASE("texts give the ids of Hugging Face tokenizers") {
  check_texts("text", {});
  check_texts("cased", {.lower_case = false, .strip_accents = std::nullopt, .split_cjk = true});
  check_texts("accented", {.lower_case = true, .strip_accents = false, .split_cjk = false});
}

TEST_CASE("the files of a Hugging Face folder say whether a vocabulary is cased") {
  const testing::TempFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nA\n\u00e9\n");
  const auto ids = [&] { return open_tokenizer(folder.path())->encode("A \u00e9"); };
  CHECK(ids() == Ids{4, 1});  // e is no token
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(ids() == Ids{5, 6});
  folder.write("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
  CHECK(ids() == Ids{4, 6});
  folder.write("tokenizer_config.json", R"({"do_lower_case": "no"})");
  CHECK_THAT(message_of(ids), Contains("/do_lower_case is \"no\", true or false is expected"));
  std::filesystem::remove(folder.path() / "vocab.txt");
  const std::string model =
      R"("model": {"type": "WordPiece", "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3,
         "a": 4, "A": 5, "\u00e9": 6}}, "pre_tokenizer": {"type": "BertPreTokenizer"})";
  folder.write("tokenizer.json",
               R"({"normalizer": {"type": "BertNormalizer", "lowercase": false}, )" + model + "}");
  CHECK(ids() == Ids{5, 6});
  folder.write("tokenizer.json", "{" + model + "}");
  CHECK_THAT(message_of(ids), Contains("with BERT's normalizer"));
}

TEST_CASE("pairs are joined and cut as Hugging Face's longest_first") {
  const nlohmann::json golden = expected();
  const auto tokenizer = make_wordpiece(golden["vocabulary"].get<Words>(), "golden");
  std::size_t pairs = 0;
  for (const auto& item : golden["cases"]) {
    if (!item.contains("a")) continue;
    CAPTURE(item.dump());
    const EncodedPair pair = encode_pair(tokenizer->encode(item["a"].get<std::string>()),
                                         tokenizer->encode(item["b"].get<std::string>()), true,
                                         item["length"].get<std::int64_t>(), *tokenizer);
    CHECK(pair.ids == item["ids"].get<Ids>());
    const Ids types = item["types"].get<Ids>();
    CHECK(pair.first == std::count(types.begin(), types.end(), 0));
    ++pairs;
  }
  CHECK(pairs > 200);
}

TEST_CASE("invalid UTF-8 is dropped like U+FFFD") {
  const auto tokenizer = make_wordpiece(kSmall, "small");
  CHECK(tokenizer->encode("a\xFF\x62") == Ids{4, 6});
  CHECK(tokenizer->encode("\xC3") == Ids{});
  CHECK(tokenizer->encode("\xED\xA0\x80 a") == Ids{4});  // a surrogate
  CHECK(tokenizer->encode("\xC0\x80"
                          "b") == Ids{5});  // an overlong NUL
}

TEST_CASE("a tokenizer tells its special ids") {
  const auto tokenizer = make_wordpiece(kSmall, "small");
  CHECK(tokenizer->vocabulary_size() == 7);
  CHECK(tokenizer->pad_id() == 0);
  CHECK(tokenizer->cls_id() == 2);
  CHECK(tokenizer->sep_id() == 3);
}

TEST_CASE("bad vocabularies are refused with file and line") {
  const testing::TempFolder folder;
  CHECK_THAT(message_of([&] { read_vocabulary(folder.path() / "none.txt"); }),
             Contains("none.txt: there is no such file") && Contains("scripts/fetch"));
  CHECK_THAT(message_of([&] { read_vocabulary(folder.path()); }), Contains("folder"));
  CHECK_THAT(message_of([&] { read_vocabulary(folder.write("v.txt", "[PAD]\n\nx\n")); }),
             Contains("v.txt:2: an empty line"));
  CHECK_THAT(message_of([&] { read_vocabulary(folder.write("v.txt", "[PAD]\nx\xFF\n")); }),
             Contains("v.txt:2: not valid UTF-8"));
  const auto open = [&](std::string_view text) {
    const auto file = folder.write("v.txt", text);
    return message_of([&] { make_named_tokenizer("wordpiece", file); });
  };
  CHECK_THAT(open("[PAD]\n[UNK]\n[CLS]\na\n"), Contains("no token '[SEP]' among 4 lines"));
  CHECK_THAT(open("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\na"),
             Contains("v.txt:6: token 'a' appears twice"));
  CHECK_THAT(open(""), Contains("no token '[PAD]' among 0 lines"));
  CHECK_THAT(message_of([] { make_named_tokenizer("wordpeice", "v"); }),
             Contains("did you mean 'wordpiece'"));
}

TEST_CASE("a vocabulary may have CRLF and no last newline") {
  const testing::TempFolder folder;
  CHECK(read_vocabulary(folder.write("v.txt", "[PAD]\r\n[UNK]\r\nx")) ==
        Words{"[PAD]", "[UNK]", "x"});
}

TEST_CASE("every cut of a vocabulary file gives a tokenizer or an error") {
  const testing::TempFolder folder;
  const std::string whole = "[PAD]\n[UNK]\n[CLS]\n[SEP]\ncaf\xC3\xA9\n##b\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    CAPTURE(length);
    const auto file = folder.write("v.txt", whole.substr(0, length));
    std::int32_t tokens = 0;
    try {
      tokens = make_named_tokenizer("wordpiece", file)->vocabulary_size();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kData);
    }
    const bool is_whole_character = length != 28;
    CHECK((tokens > 0) == (length >= 23 && is_whole_character));
  }
}

TEST_CASE("a vocabulary is built from the most frequent words") {
  const std::vector<std::string_view> texts{"b b a c", "A! c", "", "d"};
  const Words all = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "!", "d"};
  CHECK(build_vocabulary(texts) == all);
  CHECK(build_vocabulary(texts, 2) == Words(all.begin(), all.begin() + 7));
}

}  // namespace
}  // namespace tersor::datasets
