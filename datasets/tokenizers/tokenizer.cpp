// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokenizers/tokenizer.hpp"

#include "datasets/tokenizers/registry.hpp"

namespace tersor::datasets {

std::vector<std::string> tokenizer_names() { return Registry<TokenizerKind>::instance().names(); }

std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view name,
                                                const std::filesystem::path& vocab_file) {
  return Registry<TokenizerKind>::instance().find(name).open(vocab_file);
}

}  // namespace tersor::datasets
