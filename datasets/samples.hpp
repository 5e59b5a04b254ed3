// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "datasets/batches.hpp"
#include "datasets/corpus.hpp"

namespace tersor::datasets {

/// What the samples of a split ask for.
enum class TargetKind : std::uint8_t {
  kClass,         ///< Batch::labels: a class a row
  kScore,         ///< Batch::labels: a number a row
  kNextToken,     ///< Batch::targets: the token after each
  kMaskedTokens,  ///< Batch::targets: the hidden tokens; Batch::labels: 1 where the second text
                  ///< does not follow the first
};

/// What a sample's random choices hang on beside its own number, so that they do not depend on
/// batches, ranks or what was drawn before. In evaluation the epoch is not looked at.
struct SampleDraw {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  bool is_evaluation = false;
};

/// One split as a loop sees it: numbered samples, any of which may be asked for in any order. A
/// sample's number is its id, the same in every epoch and order. Immutable.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual InputKind inputs() const = 0;
  virtual TargetKind targets() const = 0;
  virtual std::int64_t rows() const = 0;
  /// Batch `index` of an order, of `batch_rows` samples or, the last one, of fewer. Throws
  /// Error(kInternal) where it would be empty or `order` names no sample.
  virtual Batch batch(std::span<const std::int64_t> order, std::int64_t index,
                      std::int64_t batch_rows, const SampleDraw& draw) const = 0;
};

/// Rows with labels. The split is that of encode_split.
std::unique_ptr<Samples> labelled_samples(const DatasetInfo& info, EncodedSplit split);

/// Blocks of `sequence` tokens, one after the other; what does not fill the last one is left out.
/// The target of a place is the token after it in its block, and none for the last place: loss and
/// perplexity are those of a model that shifts its labels, as Hugging Face's do. Throws
/// Error(kUsage) where the stream fills no block.
std::unique_ptr<Samples> causal_samples(TokenStream stream, std::int64_t sequence);

/// Where the second text of a pair comes from in half of the samples.
enum class SentenceTask : std::uint8_t {
  kOrder,  ///< the two texts change places (ALBERT's; Megatron-LM's BERT)
  kNext,   ///< from another document (BERT's next sentence)
};

/// `[CLS] a [SEP] b [SEP]` of consecutive sentences. A sample is made of as many sentences of a
/// document as it takes to reach `sequence` tokens, at least two; a last sentence left alone is
/// left out. Per epoch are drawn: where a ends, whether the pair is told apart (bit 31 of draw 1),
/// and the hidden tokens: round(15 %) of those that are not special, at least one, of which 80 %
/// become [MASK], 10 % a token of the whole vocabulary, 10 % stay. Throws Error(kUsage) where the
/// tokenizer has no [MASK] or no sample can be made.
///
/// Draws are of the data-order stream with c1 = epoch, c2 = sample + 1 and, in evaluation, bit 9 of
/// c3. With S = sequence: 0 the end of a, 1 order, 2 and 3 the other document's sample and where
/// its b begins; 4 + p whether place p is hidden (the smallest draws are), 4 + S + p by what (below
/// 0.8 2^32 [MASK], below 0.9 2^32 another), 4 + 2 S + p the other token.
std::unique_ptr<Samples> masked_samples(TokenStream stream, std::int64_t sequence,
                                        const Tokenizer& tokenizer, SentenceTask task);

}  // namespace tersor::datasets
