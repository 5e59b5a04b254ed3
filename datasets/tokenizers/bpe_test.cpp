// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "datasets/testing/paths.hpp"
#include "datasets/text/text_file.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

using Catch::Matchers::Contains;
using testing::message_of;
using Ids = std::vector<std::int32_t>;

nlohmann::json expected() {
  return nlohmann::json::parse(testing::read_source("datasets/tokenizers/expected_bpe.json"));
}

/// The expected tokenizer as vocab.json and merges.txt; returns the former's path.
std::filesystem::path write_pair(const testing::TempFolder& folder, const nlohmann::json& model) {
  std::string merges = "#version: 0.2\n";
  for (const auto& merge : model["merges"])
    merges += merge[0].get<std::string>() + ' ' + merge[1].get<std::string>() + '\n';
  folder.write("merges.txt", merges);
  return folder.write("vocab.json", model["vocab"].dump());
}

void check_cases(const Tokenizer& tokenizer, const nlohmann::json& cases) {
  REQUIRE(cases.size() > 240);
  for (const auto& item : cases) {
    CAPTURE(item.dump());
    CHECK(tokenizer.encode(item["text"].get<std::string>()) == item["ids"].get<Ids>());
  }
}

TEST_CASE("byte pairs give the ids of Hugging Face tokenizers, from each kind of file") {
  const nlohmann::json golden = expected();
  const testing::TempFolder pair;
  const auto vocab = write_pair(pair, golden["tokenizer"]["model"]);
  check_cases(*make_named_tokenizer("bpe", vocab), golden["cases"]);
  check_cases(*open_tokenizer(pair.path()), golden["cases"]);

  const testing::TempFolder whole;
  whole.write("tokenizer.json", golden["tokenizer"].dump());
  check_cases(*open_tokenizer(whole.path()), golden["cases"]);
  nlohmann::json old = golden["tokenizer"];  // merges as "a b", as files before 2024 have them
  for (auto& merge : old["model"]["merges"])
    merge = merge[0].get<std::string>() + ' ' + merge[1].get<std::string>();
  check_cases(*open_tokenizer(whole.write("tokenizer.json", old.dump())), golden["cases"]);
}

TEST_CASE("byte pairs: special ids, bytes that are no UTF-8, a piece of a megabyte") {
  const nlohmann::json golden = expected();
  const testing::TempFolder folder;
  const auto tokenizer = open_tokenizer(write_pair(folder, golden["tokenizer"]["model"]));
  CHECK(tokenizer->vocabulary_size() ==
        static_cast<std::int32_t>(golden["tokenizer"]["model"]["vocab"].size()));
  CHECK(tokenizer->pad_id() == 0);
  CHECK(tokenizer->cls_id() == 0);
  CHECK(tokenizer->sep_id() == 0);
  CHECK(tokenizer->mask_id() == -1);
  CHECK(tokenizer->encode("a\xFF\xC3 b") == tokenizer->encode("a\xEF\xBF\xBD\xEF\xBF\xBD b"));
  const Ids ids = tokenizer->encode(std::string(1 << 20, 'a'));
  CHECK(ids.size() < (1 << 18));
  CHECK(std::count(ids.begin(), ids.end(), ids.front()) > 1000);
}

TEST_CASE("files that are no byte-pair encoding of GPT-2's kind are refused with the reason") {
  const nlohmann::json golden = expected();
  const testing::TempFolder folder;
  const auto complaint = [&](auto change) {
    nlohmann::json root = golden["tokenizer"];
    change(root);
    const auto file = folder.write("tokenizer.json", root.dump());
    return message_of([&] { make_named_tokenizer("bpe", file); });
  };
  CHECK_THAT(complaint([](auto& root) { root["pre_tokenizer"]["type"] = "Metaspace"; }),
             Contains("/pre_tokenizer/type is \"Metaspace\", GPT-2's is \"ByteLevel\""));
  CHECK_THAT(complaint([](auto& root) { root["pre_tokenizer"]["add_prefix_space"] = true; }),
             Contains("/pre_tokenizer/add_prefix_space is true"));
  CHECK_THAT(complaint([](auto& root) {
               root["normalizer"] = {{"type", "NFC"}};
             }),
             Contains("/normalizer is "));
  CHECK_THAT(complaint([](auto& root) { root["model"]["type"] = "Unigram"; }),
             Contains("no model of type BPE"));
  CHECK_THAT(complaint([](auto& root) { root["model"]["vocab"]["a"] = 1; }),
             Contains("that no other token has"));
  CHECK_THAT(complaint([](auto& root) { root["model"]["vocab"].erase("a"); }),
             Contains("is not a number from 0 to"));
  CHECK_THAT(complaint([](auto& root) { root["model"]["merges"][3] = "a b c"; }),
             Contains("merge 4 'a b c' is not two tokens"));
  CHECK_THAT(complaint([](auto& root) { root["model"]["merges"][0] = 5; }),
             Contains("merge 1 is neither"));
  CHECK_THAT(message_of([&] { open_tokenizer(folder.path() / "none"); }),
             Contains("there is no such file"));
  std::filesystem::remove(folder.path() / "tokenizer.json");
  CHECK_THAT(message_of([&] { open_tokenizer(folder.path()); }),
             Contains("has no vocab.txt, vocab.json or tokenizer.json"));
  const auto vocab = folder.write("vocab.json", "{\"<|endoftext|>\": 0}");
  CHECK_THAT(message_of([&] { open_tokenizer(vocab); }),
             Contains("merges.txt: there is no such file"));
  folder.write("merges.txt", "");
  CHECK_THAT(message_of([&] { open_tokenizer(vocab); }), Contains("no token for the byte 0"));
  folder.write("vocab.json", "{\"a\": 0}");
  CHECK_THAT(message_of([&] { open_tokenizer(vocab); }), Contains("no token '<|endoftext|>'"));
  folder.write("vocab.json", "[1, 2");
  CHECK_THAT(message_of([&] { open_tokenizer(vocab); }), Contains("vocab.json:1:"));
}

TEST_CASE("every cut of a byte-pair encoding's files gives a tokenizer or an error") {
  const nlohmann::json golden = expected();
  const testing::TempFolder folder;
  const auto check = [&](const std::filesystem::path& file, const std::string& whole) {
    for (std::size_t length = 0; length < whole.size(); length += 61) {
      CAPTURE(file, length);
      folder.write(file.filename().string(), whole.substr(0, length));
      try {
        const auto tokenizer = open_tokenizer(folder.path());
        CHECK(tokenizer->vocabulary_size() > 0);
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::kData);
      }
    }
    folder.write(file.filename().string(), whole);
  };
  const auto vocab = write_pair(folder, golden["tokenizer"]["model"]);
  check("merges.txt", read_text_file(folder.path() / "merges.txt", "", ""));
  check("vocab.json", read_text_file(vocab, "", ""));
  folder.write("tokenizer_config.json", R"({"add_prefix_space": true})");
  CHECK_THAT(message_of([&] { open_tokenizer(folder.path()); }),
             Contains("tokenizer_config.json: /add_prefix_space is true"));
  std::filesystem::remove(vocab);
  check("tokenizer.json", golden["tokenizer"].dump());
}

}  // namespace
}  // namespace tersor::datasets
