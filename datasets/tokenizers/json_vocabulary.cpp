// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokenizers/json_vocabulary.hpp"

#include <vector>

#include "common/error.hpp"
#include "common/json_parse.hpp"
#include "datasets/text/text_file.hpp"

namespace tersor::datasets {
namespace {

constexpr std::size_t kMostTokens = std::size_t{1} << 20;  // four times the largest in use

}  // namespace

nlohmann::json read_tokenizer_json(const std::filesystem::path& file) {
  const std::string text =
      read_text_file(file, "tokenizer ", "; a Hugging Face folder has it beside its config.json");
  return parse_json<nlohmann::json>(text, file.string(), 1, ErrorKind::kData, kMostTokens);
}

TokenTable read_token_table(const nlohmann::json& vocabulary, const std::string& origin) {
  if (!vocabulary.is_object())
    throw Error(ErrorKind::kData, origin + ": an object of tokens and ids is expected, got " +
                                      std::string(vocabulary.type_name()));
  TokenTable ids;
  std::vector<bool> is_taken(vocabulary.size(), false);
  for (const auto& [token, id] : vocabulary.items()) {
    const bool is_id = id.is_number_unsigned() && id.get<std::uint64_t>() < vocabulary.size() &&
                       !is_taken[id.get<std::size_t>()];
    if (!is_id)
      throw Error(ErrorKind::kData, origin + ": token '" + token + "': its id " +
                                        id.dump().substr(0, 40) + " is not a number from 0 to " +
                                        std::to_string(vocabulary.size() - 1) +
                                        " that no other token has");
    is_taken[id.get<std::size_t>()] = true;
    ids.emplace(token, id.get<std::int32_t>());
  }
  return ids;
}

nlohmann::json value_at(const nlohmann::json& root, std::string_view pointer) {
  const nlohmann::json::json_pointer at{std::string(pointer)};
  return root.contains(at) ? root.at(at) : nlohmann::json();
}

}  // namespace tersor::datasets
