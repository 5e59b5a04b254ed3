// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "datasets/testing/paths.hpp"
#include "datasets/text/text_file.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

using Ids = std::vector<std::int32_t>;

nlohmann::json read_json(const std::filesystem::path& file) {
  return nlohmann::json::parse(read_text_file(file, "", ""));
}

TEST_CASE("MiniLM's vocabulary gives the reference ids of all texts") {
  const auto vocab = testing::vocabulary_or_skip();
  const auto data = testing::data_root_or_skip("reference/wordpiece-uncased.json");
  if (vocab.empty() || data.empty()) return;
  const auto tokenizer = make_named_tokenizer("wordpiece", vocab);
  CHECK(tokenizer->vocabulary_size() == 30522);
  const auto reference = read_json(data / "reference" / "wordpiece-uncased.json");
  CHECK(reference.size() == 160);
  for (const auto& item : reference) {
    CAPTURE(item.dump());
    CHECK(tokenizer->encode(item["text"].get<std::string>()) == item["ids"].get<Ids>());
  }
}

TEST_CASE("MRPC pairs become the reference batch") {
  const auto vocab = testing::vocabulary_or_skip();
  const auto data = testing::data_root_or_skip("reference/minilm-mrpc-forward.json");
  if (vocab.empty() || data.empty()) return;
  const auto reference = read_json(data / "reference" / "minilm-mrpc-forward.json");
  const DatasetInfo& mrpc = find_dataset("mrpc");
  const Split dev = load(mrpc, data, SplitName::kDev);
  const auto tokenizer = make_tokenizer(mrpc, vocab, dev);
  const EncodedSplit encoded =
      encode_split(mrpc, dev, *tokenizer, reference["max_length"].get<std::int64_t>());
  const auto rows = reference["rows"].get<std::vector<std::int64_t>>();
  const Batch batch = make_batch(encoded, rows, 0, static_cast<std::int64_t>(rows.size()));
  CHECK(batch.sample_ids == rows);
  const auto flat = [&](const char* key) {
    std::vector<std::int64_t> values;
    for (const auto& row : reference[key])
      for (const auto& value : row) values.push_back(value.get<std::int64_t>());
    return values;
  };
  CHECK(batch.ids == flat("input_ids"));
  CHECK(batch.types == flat("token_type_ids"));
  CHECK(batch.mask == flat("attention_mask"));
}

}  // namespace
}  // namespace tersor::datasets
