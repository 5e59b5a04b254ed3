// SPDX-License-Identifier: Apache-2.0
#include "datasets/samples.hpp"

#include <algorithm>
#include <utility>

#include "common/error.hpp"
#include "common/philox.hpp"

namespace tersor::datasets {
namespace {

/// The samples of batch `index`.
std::span<const std::int64_t> rows_of_batch(std::span<const std::int64_t> order, std::int64_t index,
                                            std::int64_t batch_rows, std::int64_t rows) {
  const auto total = static_cast<std::int64_t>(order.size());
  TERSOR_CHECK(index >= 0 && index < evaluation_batches(total, batch_rows),
               "batch " + std::to_string(index) + " of " + std::to_string(total) + " rows");
  const std::int64_t begin = index * batch_rows;
  const auto chosen = order.subspan(static_cast<std::size_t>(begin),
                                    static_cast<std::size_t>(std::min(batch_rows, total - begin)));
  for (const std::int64_t row : chosen)
    TERSOR_CHECK(row >= 0 && row < rows, "row " + std::to_string(row));
  return chosen;
}

/// A batch of padding.
Batch empty_batch(std::int64_t rows, std::int64_t sequence, std::int32_t pad_id) {
  Batch batch;
  batch.rows = rows;
  batch.sequence = sequence;
  const auto cells = static_cast<std::size_t>(rows * sequence);
  batch.ids.assign(cells, pad_id);
  batch.types.assign(cells, 0);
  batch.mask.assign(cells, 0);
  batch.targets.assign(cells, kNoTarget);
  return batch;
}

class Labelled final : public Samples {
 public:
  Labelled(bool is_score, EncodedSplit split) : is_score_(is_score), split_(std::move(split)) {}
  InputKind inputs() const override { return InputKind::kTokens; }
  TargetKind targets() const override {
    return is_score_ ? TargetKind::kScore : TargetKind::kClass;
  }
  std::int64_t rows() const override { return split_.rows(); }
  Batch batch(std::span<const std::int64_t> order, std::int64_t index, std::int64_t batch_rows,
              const SampleDraw&) const override {
    return make_batch(split_, order, index, batch_rows);
  }

 private:
  bool is_score_;
  EncodedSplit split_;
};

class Causal final : public Samples {
 public:
  Causal(TokenStream stream, std::int64_t sequence)
      : stream_(std::move(stream)), sequence_(sequence) {
    if (sequence < 2)
      throw Error(ErrorKind::kUsage, "sequence " + std::to_string(sequence) +
                                         " leaves no token to predict; give 2 or more");
    if (rows() == 0)
      throw Error(ErrorKind::kUsage, std::to_string(stream_.ids.size()) +
                                         " tokens fill no block of " + std::to_string(sequence) +
                                         "; give a shorter sequence or more text");
  }
  InputKind inputs() const override { return InputKind::kTokens; }
  TargetKind targets() const override { return TargetKind::kNextToken; }
  std::int64_t rows() const override {
    return static_cast<std::int64_t>(stream_.ids.size()) / sequence_;
  }
  Batch batch(std::span<const std::int64_t> order, std::int64_t index, std::int64_t batch_rows,
              const SampleDraw&) const override {
    const auto chosen = rows_of_batch(order, index, batch_rows, rows());
    Batch batch = empty_batch(static_cast<std::int64_t>(chosen.size()), sequence_, 0);
    batch.mask.assign(batch.mask.size(), 1);
    const auto length = static_cast<std::size_t>(sequence_);
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      const std::size_t from = static_cast<std::size_t>(chosen[r]) * length;
      for (std::size_t i = 0; i < length; ++i) {
        batch.ids[r * length + i] = stream_.ids[from + i];
        if (i > 0) batch.targets[r * length + i - 1] = stream_.ids[from + i];
      }
      batch.sample_ids.push_back(chosen[r]);
    }
    return batch;
  }

 private:
  TokenStream stream_;
  std::int64_t sequence_;
};

class Masked final : public Samples {
 public:
  Masked(TokenStream stream, std::int64_t sequence, const Tokenizer& tokenizer, SentenceTask task)
      : stream_(std::move(stream)), sequence_(sequence), task_(task), special_{tokenizer} {
    if (special_.mask < 0)
      throw Error(ErrorKind::kUsage,
                  "the vocabulary has no [MASK]; a masked language model needs a WordPiece one");
    if (sequence < kSpecial + 2)
      throw Error(ErrorKind::kUsage, "sequence " + std::to_string(sequence) +
                                         " cannot hold a pair and its 3 special tokens; give 5 or "
                                         "more");
    for (std::size_t d = 0; d < stream_.documents.size(); ++d) add_document(d);
    if (chunks_.empty())
      throw Error(ErrorKind::kUsage, "no document has two sentences; blank lines part documents");
    if (task == SentenceTask::kNext && chunks_.front().document == chunks_.back().document)
      throw Error(ErrorKind::kUsage,
                  "next sentences of other documents need two documents; blank lines part them");
  }
  InputKind inputs() const override { return InputKind::kTokens; }
  TargetKind targets() const override { return TargetKind::kMaskedTokens; }
  std::int64_t rows() const override { return static_cast<std::int64_t>(chunks_.size()); }

  Batch batch(std::span<const std::int64_t> order, std::int64_t index, std::int64_t batch_rows,
              const SampleDraw& draw) const override {
    const auto chosen = rows_of_batch(order, index, batch_rows, rows());
    Batch batch = empty_batch(static_cast<std::int64_t>(chosen.size()), sequence_, special_.pad);
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      fill(batch, r, chosen[r], draw);
      batch.sample_ids.push_back(chosen[r]);
    }
    return batch;
  }

 private:
  static constexpr std::int64_t kSpecial = 3;
  static constexpr std::uint64_t kFirstPlaceDraw = 4;

  struct SpecialIds {
    explicit SpecialIds(const Tokenizer& tokenizer)
        : pad(tokenizer.pad_id()),
          cls(tokenizer.cls_id()),
          sep(tokenizer.sep_id()),
          mask(tokenizer.mask_id()) {}
    std::int32_t pad, cls, sep, mask;
  };
  /// Consecutive sentences of one document.
  struct Chunk {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t document = 0;
    std::int64_t sentences() const { return end - begin; }
  };

  std::int64_t token_of(std::int64_t sentence) const {
    return sentence < static_cast<std::int64_t>(stream_.sentences.size())
               ? stream_.sentences[static_cast<std::size_t>(sentence)]
               : static_cast<std::int64_t>(stream_.ids.size());
  }

  void add_document(std::size_t document) {
    const std::int64_t end = document + 1 < stream_.documents.size()
                                 ? stream_.documents[document + 1]
                                 : static_cast<std::int64_t>(stream_.sentences.size());
    for (std::int64_t begin = stream_.documents[document]; begin + 1 < end;) {
      std::int64_t stop = begin + 2;
      while (stop < end && token_of(stop) - token_of(begin) < sequence_ - kSpecial) ++stop;
      chunks_.push_back({begin, stop, static_cast<std::int64_t>(document)});
      begin = stop;
    }
  }

  std::vector<std::int32_t> tokens(std::int64_t begin, std::int64_t end) const {
    return {stream_.ids.begin() + token_of(begin), stream_.ids.begin() + token_of(end)};
  }

  static std::int64_t below(const Stream& stream, std::uint64_t draw, std::int64_t limit) {
    return static_cast<std::int64_t>(
        (std::uint64_t{stream.draw32(draw)} * static_cast<std::uint64_t>(limit)) >> 32);
  }

  /// A sample of another document: the drawn one or, where it is of the same, the first after that
  /// document, from the beginning again behind the last.
  const Chunk& other_chunk(const Chunk& chunk, const Stream& stream) const {
    const std::int64_t drawn = below(stream, 2, rows());
    auto at = static_cast<std::size_t>(drawn);
    while (chunks_[at].document == chunk.document) at = (at + 1) % chunks_.size();
    return chunks_[at];
  }

  void fill(Batch& batch, std::size_t r, std::int64_t sample, const SampleDraw& draw) const {
    Stream stream = make_stream(draw.seed, Purpose::kDataOrder, draw.is_evaluation ? 0 : draw.epoch,
                                static_cast<std::uint32_t>(sample) + 1);
    if (draw.is_evaluation) stream.c3 |= 1U << 9;
    const Chunk& chunk = chunks_[static_cast<std::size_t>(sample)];
    const std::int64_t middle = chunk.begin + 1 + below(stream, 0, chunk.sentences() - 1);
    std::vector<std::int32_t> a = tokens(chunk.begin, middle);
    std::vector<std::int32_t> b = tokens(middle, chunk.end);
    const bool is_apart = stream.draw32(1) >> 31 != 0;
    if (is_apart && task_ == SentenceTask::kOrder) std::swap(a, b);
    if (is_apart && task_ == SentenceTask::kNext) {
      const Chunk& other = other_chunk(chunk, stream);
      b = tokens(other.begin + 1 + below(stream, 3, other.sentences() - 1), other.end);
    }
    const EncodedPair pair =
        join_pair(std::move(a), std::move(b), true, sequence_, special_.cls, special_.sep);
    const std::size_t from = r * static_cast<std::size_t>(sequence_);
    for (std::size_t i = 0; i < pair.ids.size(); ++i) {
      batch.ids[from + i] = pair.ids[i];
      batch.types[from + i] = i < static_cast<std::size_t>(pair.first) ? 0 : 1;
      batch.mask[from + i] = 1;
    }
    batch.labels.push_back(is_apart ? 1.0F : 0.0F);
    hide(batch, from, pair, stream);
  }

  void hide(Batch& batch, std::size_t from, const EncodedPair& pair, const Stream& stream) const {
    std::vector<std::pair<std::uint32_t, std::size_t>> places;
    for (std::size_t i = 1; i + 1 < pair.ids.size(); ++i)
      if (i + 1 != static_cast<std::size_t>(pair.first))
        places.emplace_back(stream.draw32(kFirstPlaceDraw + i), i);
    std::sort(places.begin(), places.end());
    places.resize(
        std::min(places.size(), std::max<std::size_t>(1, (places.size() * 15 + 50) / 100)));
    const auto length = static_cast<std::uint64_t>(sequence_);
    for (const auto& [unused, place] : places) {
      std::int64_t& id = batch.ids[from + place];
      batch.targets[from + place] = id;
      const std::uint32_t u = stream.draw32(kFirstPlaceDraw + length + place);
      if (u < kMaskedBelow)
        id = special_.mask;
      else if (u < kReplacedBelow)
        id = below(stream, kFirstPlaceDraw + 2 * length + place, stream_.vocabulary);
    }
  }

  static constexpr std::uint32_t kMaskedBelow = 3435973837;    // 0.8 2^32, rounded up
  static constexpr std::uint32_t kReplacedBelow = 3865470567;  // 0.9 2^32, rounded up

  TokenStream stream_;
  std::int64_t sequence_;
  SentenceTask task_;
  SpecialIds special_;
  std::vector<Chunk> chunks_;
};

}  // namespace

std::unique_ptr<Samples> labelled_samples(const DatasetInfo& info, EncodedSplit split) {
  return std::make_unique<Labelled>(info.classes == 0, std::move(split));
}

std::unique_ptr<Samples> causal_samples(TokenStream stream, std::int64_t sequence) {
  return std::make_unique<Causal>(std::move(stream), sequence);
}

std::unique_ptr<Samples> masked_samples(TokenStream stream, std::int64_t sequence,
                                        const Tokenizer& tokenizer, SentenceTask task) {
  return std::make_unique<Masked>(std::move(stream), sequence, tokenizer, task);
}

}  // namespace tersor::datasets
