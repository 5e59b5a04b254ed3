// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "datasets/testing/paths.hpp"
#include "datasets/text/text_file.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

TEST_CASE("GPT-2's vocabulary gives the reference ids of all texts") {
  const auto data = testing::data_root_or_skip("reference/gpt2-bpe.json");
  if (data.empty()) return;
  const auto tokenizer = open_tokenizer(data / "gpt2-bpe");
  CHECK(tokenizer->vocabulary_size() == 50257);
  CHECK(tokenizer->sep_id() == 50256);
  const auto reference =
      nlohmann::json::parse(read_text_file(data / "reference" / "gpt2-bpe.json", "", ""));
  CHECK(reference.size() == 70);
  for (const auto& item : reference) {
    CAPTURE(item.dump());
    CHECK(tokenizer->encode(item["text"].get<std::string>()) ==
          item["ids"].get<std::vector<std::int32_t>>());
  }
}

}  // namespace
}  // namespace tersor::datasets
