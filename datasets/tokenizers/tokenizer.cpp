// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokenizers/tokenizer.hpp"

#include "common/error.hpp"
#include "datasets/tokenizers/json_vocabulary.hpp"
#include "datasets/tokenizers/registry.hpp"

namespace tersor::datasets {
namespace {

namespace fs = std::filesystem;

/// The file of a folder that decides; the folder itself where it has none.
fs::path deciding_file(const fs::path& given) {
  std::error_code ignored;
  if (!fs::is_directory(given, ignored)) return given;
  for (const char* name : {"vocab.txt", "vocab.json", "tokenizer.json"})
    if (fs::exists(given / name, ignored)) return given / name;
  throw Error(
      ErrorKind::kMissing,
      "tokenizer: " + given.string() +
          " has no vocab.txt, vocab.json or tokenizer.json; give a folder or file with one");
}

}  // namespace

std::vector<std::string> tokenizer_names() { return Registry<TokenizerKind>::instance().names(); }

std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view name,
                                                const std::filesystem::path& vocab_file) {
  return Registry<TokenizerKind>::instance().find(name).open(vocab_file);
}

std::unique_ptr<Tokenizer> open_tokenizer(const fs::path& file_or_folder) {
  const fs::path file = deciding_file(file_or_folder);
  const bool is_bpe = file.filename() == "tokenizer.json"
                          ? value_at(read_tokenizer_json(file), "/model/type") == "BPE"
                          : file.extension() == ".json";
  return make_named_tokenizer(is_bpe ? "bpe" : "wordpiece", file);
}

}  // namespace tersor::datasets
