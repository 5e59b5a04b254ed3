// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tersor::datasets {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
using TokenTable = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

/// A tokenizer's JSON file. Throws Error(kMissing), Error(kIo) and Error(kData) with the place.
nlohmann::json read_tokenizer_json(const std::filesystem::path& file);

/// {"token": id}: ids 0 to n - 1, each once. Throws Error(kData) with the token at fault.
TokenTable read_token_table(const nlohmann::json& vocabulary, const std::string& origin);

/// `root` at a JSON pointer; null where it has nothing there.
nlohmann::json value_at(const nlohmann::json& root, std::string_view pointer);

}  // namespace tersor::datasets
