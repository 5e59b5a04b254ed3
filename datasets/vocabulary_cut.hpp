// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {

/// The tokens of a vocabulary that a set's files hold, numbered anew: a model of a small corpus
/// needs no rows for the others. A function of files and tokenizer alone: of all splits, whole,
/// however many rows or tokens a run reads.
struct VocabularyCut {
  /// Old ids, ascending; the index is the new id. The tokenizer's padding, [CLS], [SEP] and [MASK]
  /// (end of text) are among them.
  std::vector<std::int32_t> kept;
  /// XXH64 of `kept` (u32 each, little-endian), for the record.
  std::uint64_t hash = 0;

  /// New ids in place of old ones. Throws Error(kUsage) for a token that was not kept.
  void apply(std::vector<std::int32_t>& ids) const;
};

/// Reads every split that has a file, or that is generated. `tokenizer` may be null for a set of
/// token ids. Throws as load() does.
VocabularyCut cut_vocabulary(const DatasetInfo& info, const std::filesystem::path& data_root,
                             const Tokenizer* tokenizer);

/// `tokenizer` with the new ids; it encodes the texts of the cut's set alone.
std::unique_ptr<Tokenizer> cut_tokenizer(std::unique_ptr<Tokenizer> tokenizer, VocabularyCut cut);

}  // namespace tersor::datasets
