// SPDX-License-Identifier: Apache-2.0
#include "datasets/batches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/error.hpp"
#include "common/philox.hpp"

namespace tersor::datasets {
namespace {

/// The shorter list (a on a tie) is cut to half the room; the longer one gets the rest.
void cut_longest_first(std::vector<std::int32_t>& a, std::vector<std::int32_t>& b,
                       std::size_t room) {
  if (a.size() + b.size() <= room) return;
  std::vector<std::int32_t>& shorter = a.size() <= b.size() ? a : b;
  std::vector<std::int32_t>& longer = a.size() <= b.size() ? b : a;
  shorter.resize(std::min(shorter.size(), room / 2));
  longer.resize(room - shorter.size());
}

}  // namespace

EncodedPair encode_pair(std::vector<std::int32_t> a, std::vector<std::int32_t> b, bool has_b,
                        std::int64_t sequence, const Tokenizer& tokenizer) {
  return join_pair(std::move(a), std::move(b), has_b, sequence, tokenizer.cls_id(),
                   tokenizer.sep_id());
}

EncodedPair join_pair(std::vector<std::int32_t> a, std::vector<std::int32_t> b, bool has_b,
                      std::int64_t sequence, std::int32_t cls_id, std::int32_t sep_id) {
  const std::int64_t special = has_b ? 3 : 2;
  if (sequence < special)
    throw Error(ErrorKind::kUsage, "sequence " + std::to_string(sequence) + " cannot hold the " +
                                       std::to_string(special) +
                                       " special tokens of an example; give a longer one");
  if (!has_b) b.clear();
  const auto room = static_cast<std::size_t>(sequence - special);
  cut_longest_first(a, b, room);
  EncodedPair pair;
  pair.ids.reserve(a.size() + b.size() + static_cast<std::size_t>(special));
  pair.ids.push_back(cls_id);
  pair.ids.insert(pair.ids.end(), a.begin(), a.end());
  pair.ids.push_back(sep_id);
  pair.first = static_cast<std::int32_t>(pair.ids.size());
  if (has_b) {
    pair.ids.insert(pair.ids.end(), b.begin(), b.end());
    pair.ids.push_back(sep_id);
  }
  return pair;
}

EncodedSplit encode_split(const DatasetInfo& info, const Split& split, const Tokenizer& tokenizer,
                          std::int64_t sequence) {
  if (info.content != Content::kRows)
    throw Error(ErrorKind::kUsage,
                info.name +
                    " is a corpus without labels; classification and regression need a set "
                    "with rows (tersor data list)");
  EncodedSplit result;
  result.sequence = sequence;
  result.pad_id = tokenizer.pad_id();
  result.offsets.push_back(0);
  for (const Example& example : split.examples) {
    std::vector<std::int32_t> second;
    if (info.pairs) second = tokenizer.encode(example.text_b);
    const EncodedPair pair = encode_pair(tokenizer.encode(example.text_a), std::move(second),
                                         info.pairs, sequence, tokenizer);
    result.ids.insert(result.ids.end(), pair.ids.begin(), pair.ids.end());
    result.offsets.push_back(static_cast<std::int64_t>(result.ids.size()));
    result.first.push_back(pair.first);
    result.labels.push_back(example.label);
    result.source_rows.push_back(example.row);
  }
  return result;
}

std::vector<std::int64_t> epoch_order(std::int64_t rows, std::uint64_t seed, std::uint32_t epoch) {
  const Stream stream = make_stream(seed, Purpose::kDataOrder, epoch);
  std::vector<std::uint32_t> draws(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < draws.size(); ++i) draws[i] = stream.draw32(i);
  std::vector<std::int64_t> order(draws.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const std::uint32_t x = draws[static_cast<std::size_t>(a)];
    const std::uint32_t y = draws[static_cast<std::size_t>(b)];
    return x != y ? x < y : a < b;
  });
  return order;
}

std::int64_t training_batches(std::int64_t rows, std::int64_t batch_rows) {
  TERSOR_CHECK(batch_rows > 0, "batch of " + std::to_string(batch_rows) + " rows");
  return rows / batch_rows;
}

std::int64_t evaluation_batches(std::int64_t rows, std::int64_t batch_rows) {
  TERSOR_CHECK(batch_rows > 0, "batch of " + std::to_string(batch_rows) + " rows");
  return (rows + batch_rows - 1) / batch_rows;
}

Batch make_batch(const EncodedSplit& split, std::span<const std::int64_t> order, std::int64_t index,
                 std::int64_t batch_rows) {
  const auto total = static_cast<std::int64_t>(order.size());
  TERSOR_CHECK(index >= 0 && index < evaluation_batches(total, batch_rows),
               "batch " + std::to_string(index) + " of " + std::to_string(total) + " rows");
  const std::int64_t begin = index * batch_rows;
  Batch batch;
  batch.rows = std::min(batch_rows, total - begin);
  batch.sequence = split.sequence;
  const auto cells = static_cast<std::size_t>(batch.rows * batch.sequence);
  batch.ids.assign(cells, split.pad_id);
  batch.types.assign(cells, 0);
  batch.mask.assign(cells, 0);
  for (std::int64_t r = 0; r < batch.rows; ++r) {
    const std::int64_t position = order[static_cast<std::size_t>(begin + r)];
    TERSOR_CHECK(position >= 0 && position < split.rows(), "row " + std::to_string(position));
    const auto row = static_cast<std::size_t>(position);
    const auto from = static_cast<std::size_t>(split.offsets[row]);
    const auto count = static_cast<std::size_t>(split.offsets[row + 1]) - from;
    const auto to = static_cast<std::size_t>(r * batch.sequence);
    for (std::size_t i = 0; i < count; ++i) {
      batch.ids[to + i] = split.ids[from + i];
      batch.types[to + i] = i < static_cast<std::size_t>(split.first[row]) ? 0 : 1;
      batch.mask[to + i] = 1;
    }
    batch.labels.push_back(split.labels[row]);
    batch.sample_ids.push_back(split.source_rows[row]);
  }
  return batch;
}

}  // namespace tersor::datasets
