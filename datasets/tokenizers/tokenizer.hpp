// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::datasets {

/// Text to token ids. Immutable, so one object serves many threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Ids without special tokens; empty text gives none. Invalid UTF-8 is read as U+FFFD.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  virtual std::int32_t vocabulary_size() const = 0;
  virtual std::int32_t pad_id() const = 0;
  virtual std::int32_t cls_id() const = 0;
  virtual std::int32_t sep_id() const = 0;
  /// Of the token that hides another from a masked language model; -1: the vocabulary has none.
  virtual std::int32_t mask_id() const { return -1; }
};

/// How a WordPiece vocabulary was made; the defaults are BERT's uncased one.
struct WordPieceOptions {
  bool lower_case = true;
  std::optional<bool> strip_accents;  ///< unset: as lower_case
  bool split_cjk = true;              ///< CJK characters are words of their own
};

/// BERT's WordPiece over a list of tokens, whose index is the id. Throws Error(kData) where
/// [PAD], [UNK], [CLS] or [SEP] is missing or a token appears twice; `origin` names the list in the
/// message.
std::unique_ptr<Tokenizer> make_wordpiece(const std::vector<std::string>& vocabulary,
                                          const std::string& origin,
                                          const WordPieceOptions& options = {});

/// Reads a vocab.txt: one token a line, CRLF tolerated, last newline optional. Throws
/// Error(kMissing) or Error(kData) with file and line.
std::vector<std::string> read_vocabulary(const std::filesystem::path& file);

/// The special tokens, then the `max_words` most frequent words of the texts (ties: the smaller
/// bytes first): for a model with random weights on a set without a vocabulary.
std::vector<std::string> build_vocabulary(std::span<const std::string_view> texts,
                                          std::size_t max_words = 8192);

/// Names that `tersor data tokens --tokenizer` accepts.
std::vector<std::string> tokenizer_names();
/// By name ("wordpiece"), from a vocabulary file. Throws Error(kUsage) on an unknown name.
std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view name,
                                                const std::filesystem::path& vocab_file);
/// Of the kind that the files say: a Hugging Face folder (vocab.txt: WordPiece; vocab.json with
/// merges.txt: BPE; else tokenizer.json by its model's type), or one of these files. Throws
/// Error(kMissing) or Error(kData).
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& file_or_folder);

}  // namespace tersor::datasets
