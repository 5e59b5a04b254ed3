// SPDX-License-Identifier: Apache-2.0
#include "compressors/tools/volume.hpp"

#include <algorithm>
#include <vector>

namespace tersor::compressors {
namespace {

double ring(double buffer, std::uint32_t ranks) {
  return 2.0 * static_cast<double>(ranks - 1) / static_cast<double>(ranks) * buffer;
}

Context context_of(std::uint32_t ranks, const std::vector<std::int64_t>& ids) {
  Context context;
  context.ranks = ranks;
  context.sample_ids = ids;
  return context;
}

double two_step(const Codec& codec, const Shape& shape, DType dtype, std::uint32_t ranks) {
  const std::vector<std::int64_t> one_id{0};
  const Context context = context_of(ranks, one_id);
  std::vector<double> chunks;
  double all = 0;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const Shape chunk{1, chunk_rows(shape.rows(), ranks, r), shape.hidden};
    chunks.push_back(static_cast<double>(codec.payload_bytes(chunk, dtype, context)));
    all += chunks.back();
  }
  double most = 0;
  for (const double own : chunks) most = std::max(most, all - own + (ranks - 1) * own);
  return most;
}

}  // namespace

std::int64_t chunk_rows(std::int64_t rows, std::uint32_t ranks, std::uint32_t index) {
  return rows / ranks + (index < rows % ranks ? 1 : 0);
}

SentBytes sent_bytes(const Codec& codec, const Shape& shape, DType dtype, std::uint32_t ranks) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.samples));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  const Context context = context_of(ranks, ids);
  const auto state = codec.make_state(shape, dtype, ranks);
  SentBytes sent;
  double reduced = 0;
  bool is_reduced = true;
  for (int round = 0; round < codec.rounds(); ++round) {
    const auto bytes =
        static_cast<double>(codec.payload_bytes(shape, dtype, context, round, state.get()));
    is_reduced = is_reduced && codec.exchange(round) == Exchange::kAllReduce;
    reduced += ring(bytes, ranks);
    sent.gather += static_cast<double>(ranks - 1) * bytes;
  }
  if (is_reduced) sent.all_reduce = reduced;
  if (codec.rounds() == 1 && codec.properties().state == StateKind::kNone &&
      !codec.properties().learned)
    sent.two_step = two_step(codec, shape, dtype, ranks);
  return sent;
}

double reference_sent_bytes(const Shape& shape, std::uint32_t ranks) {
  return ring(2.0 * static_cast<double>(shape.elements()), ranks);
}

}  // namespace tersor::compressors
