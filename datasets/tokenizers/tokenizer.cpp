// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokenizers/tokenizer.hpp"

#include <map>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "datasets/tokenizers/registry.hpp"

namespace tersor::datasets {
namespace {

using Registry = std::map<std::string, TokenizerKind, std::less<>>;

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

TokenizerRegistrar::TokenizerRegistrar(TokenizerKind kind) {
  const std::string name = kind.name;
  const bool is_new = registry().emplace(name, std::move(kind)).second;
  TERSOR_CHECK(is_new, "tokenizer '" + name + "' is registered twice");
}

std::vector<std::string> tokenizer_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : registry()) names.push_back(name);
  return names;
}

std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view name,
                                                const std::filesystem::path& vocab_file) {
  const auto found = registry().find(name);
  if (found == registry().end())
    throw Error(ErrorKind::kUsage, "unknown tokenizer '" + std::string(name) + "'" +
                                       known_names_hint(name, tokenizer_names()));
  return found->second.open(vocab_file);
}

}  // namespace tersor::datasets
