// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/registry.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {

/// A kind of tokenizer that reads a vocabulary file.
struct TokenizerKind {
  static constexpr std::string_view kKind = "tokenizer";
  std::string name;         ///< e.g. "wordpiece"
  std::string description;  ///< one line
  std::function<std::unique_ptr<Tokenizer>(const std::filesystem::path& vocab_file)> open;
};

/// Registers one kind; put one object of this type into datasets/tokenizers/NAME.cpp.
using TokenizerRegistrar = Registrar<TokenizerKind>;

}  // namespace tersor::datasets
