// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {

/// A split of a corpus as token ids.
struct TokenStream {
  std::vector<std::int32_t> ids;
  std::int32_t vocabulary = 0;  ///< ids are below it
  /// First token of each sentence and first sentence of each document; filled by read_sentences.
  std::vector<std::int64_t> sentences;
  std::vector<std::int64_t> documents;
  /// XXH64 over what was read: of text each line's number from 0 (i64), length (u64) and bytes, of
  /// token ids each one (u32), little-endian.
  std::uint64_t content_hash = 0;
};

/// DatasetInfo::lines of a set with text files: the file of the split, mapped, never whole in
/// memory. Throws Error(kMissing), and Error(kData) with file and line for bytes that are no UTF-8
/// and for a line of more than 16 MiB.
decltype(DatasetInfo::lines) file_lines();

/// How many lines of a generated corpus are all of a split; 0: they end by themselves.
std::int64_t all_lines(const DatasetInfo& info, SplitName split);

/// Lines of a split, none of which is kept. Throws as load() does.
std::int64_t count_lines(const DatasetInfo& info, const std::filesystem::path& data_root,
                         SplitName split);

/// The tokens of a split, for causal language models. Text is encoded line by line with its
/// newlines; a line of blanks (WikiText's) is left out, an empty line is a newline. A set of token
/// ids needs no tokenizer. At most `max_tokens` (0: all of them; the last line is then cut). Throws
/// as load() does, and Error(kUsage) for a set without running text.
TokenStream read_stream(const DatasetInfo& info, const std::filesystem::path& data_root,
                        SplitName split, const Tokenizer* tokenizer, std::int64_t max_tokens = 0);

/// The same tokens cut into sentences and documents, for masked language models. Ends at the first
/// sentence that begins at `max_tokens` or later. A blank line ends a document. Error(kUsage) for
/// token ids, which tell no sentences.
TokenStream read_sentences(const DatasetInfo& info, const std::filesystem::path& data_root,
                           SplitName split, const Tokenizer& tokenizer,
                           std::int64_t max_tokens = 0);

/// Sentences of a line, without the blanks around them: each ends with a '.', '!' or '?' before
/// white space. In a line that has such a mark between blanks (WikiText's " . "), only those count,
/// so that "H. americanus" stays whole. A line's end ends a sentence.
std::vector<std::string_view> sentences_of(std::string_view line);

}  // namespace tersor::datasets
