// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {

/// `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]`, not padded.
struct EncodedPair {
  std::vector<std::int32_t> ids;
  std::int32_t first = 0;  ///< tokens of type 0: [CLS] a [SEP]; the others are of type 1
};

/// Joins two token lists (`has_b` false: a alone) and cuts them to `sequence` tokens, special ones
/// counted, as longest_first of Hugging Face's fast tokenizers: from the end of the longer list
/// until both fit or are equally long, then of both; where the room is odd, the list that was
/// longer (b on a tie) keeps one token more. Throws Error(kUsage) where `sequence` cannot hold the
/// special tokens.
EncodedPair encode_pair(std::vector<std::int32_t> a, std::vector<std::int32_t> b, bool has_b,
                        std::int64_t sequence, const Tokenizer& tokenizer);

/// The same for a vocabulary of which two special ids are known.
EncodedPair join_pair(std::vector<std::int32_t> a, std::vector<std::int32_t> b, bool has_b,
                      std::int64_t sequence, std::int32_t cls_id, std::int32_t sep_id);

/// A split as token ids, unpadded rows one after the other.
struct EncodedSplit {
  std::int64_t sequence = 0;  ///< length to which batches are padded
  std::int32_t pad_id = 0;
  std::vector<std::int32_t> ids;          ///< all rows
  std::vector<std::int64_t> offsets;      ///< rows + 1 entries into ids
  std::vector<std::int32_t> first;        ///< tokens of type 0 per row
  std::vector<float> labels;              ///< per row
  std::vector<std::int64_t> source_rows;  ///< Example::row per row

  std::int64_t rows() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Tokenises every example of a split. Throws Error(kUsage) for a corpus, whose samples are blocks
/// and pairs (samples.hpp).
EncodedSplit encode_split(const DatasetInfo& info, const Split& split, const Tokenizer& tokenizer,
                          std::int64_t sequence);

/// What a batch's inputs are; its arrays follow from it.
enum class InputKind : std::uint8_t {
  kTokens,  ///< ids, types and mask
};

/// A token that is not to be predicted, in Batch::targets.
inline constexpr std::int64_t kNoTarget = -100;

/// What one step sees: row-major {rows, sequence} arrays.
struct Batch {
  InputKind inputs = InputKind::kTokens;
  std::int64_t rows = 0;
  std::int64_t sequence = 0;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;       ///< 0: first text and padding, 1: second text
  std::vector<std::int64_t> mask;        ///< 1: real token, 0: padding
  std::vector<float> labels;             ///< class index or score, per row; empty: none
  std::vector<std::int64_t> sample_ids;  ///< Example::row, or the sample's number, per row
  std::vector<std::int64_t> targets{};   ///< the token to predict at each place, or kNoTarget;
                                         ///< empty: no tokens are predicted
};

/// Positions 0..rows-1 in the order of an epoch (from 0): ascending by (32-bit Philox draw of the
/// position, position), stream: the run's seed, purpose data order, c1 = epoch. Depends on nothing
/// else, so every rank, tensor-parallel degree and codec sees the same order.
std::vector<std::int64_t> epoch_order(std::int64_t rows, std::uint64_t seed, std::uint32_t epoch);

/// Batches of one epoch: rows / batch in training (the rest is dropped), rounded up in evaluation.
std::int64_t training_batches(std::int64_t rows, std::int64_t batch_rows);
std::int64_t evaluation_batches(std::int64_t rows, std::int64_t batch_rows);

/// Batch `index` of an order; evaluation passes the identity order. The last one may be short.
/// Throws Error(kInternal) where it would be empty.
Batch make_batch(const EncodedSplit& split, std::span<const std::int64_t> order, std::int64_t index,
                 std::int64_t batch_rows);

}  // namespace tersor::datasets
