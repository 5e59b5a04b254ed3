// SPDX-License-Identifier: Apache-2.0
#include "compressors/tools/volume.hpp"

#include <algorithm>
#include <vector>

#include "common/wire_bytes.hpp"

namespace tersor::compressors {
namespace {

Context context_of(std::uint32_t ranks, const std::vector<std::int64_t>& ids, Phase phase) {
  Context context;
  context.ranks = ranks;
  context.phase = phase;
  context.sample_ids = ids;
  return context;
}

double two_step(const Codec& codec, const Shape& shape, DType dtype, std::uint32_t ranks) {
  const std::vector<std::int64_t> one_id{0};
  const Context context = context_of(ranks, one_id, Phase::kTrain);
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

/// Of a codec whose first round is an all-to-all: the parts of others, then its own payload to
/// each.
double in_parts(const Codec& codec, const Shape& shape, DType dtype, Context context) {
  double most = 0;
  for (context.rank = 0; context.rank < context.ranks; ++context.rank) {
    double sent = 0;
    for (int round = 0; round < codec.rounds(); ++round)
      sent += static_cast<double>(
          round_wire_bytes(codec, shape, dtype, context, round, false).value_or(0));
    most = std::max(most, sent);
  }
  return most;
}

}  // namespace

std::int64_t chunk_rows(std::int64_t rows, std::uint32_t ranks, std::uint32_t index) {
  return rows / ranks + (index < rows % ranks ? 1 : 0);
}

std::optional<std::uint64_t> round_wire_bytes(const Codec& codec, const Shape& shape, DType dtype,
                                              const Context& context, int round,
                                              bool adds_in_rank_order) {
  if (!codec.properties().fixed_size) return std::nullopt;
  const auto ranks = static_cast<int>(context.ranks);
  const auto bytes_to = [&](std::uint32_t to) {
    return static_cast<std::uint64_t>(codec.part_bytes(shape, dtype, context, round, to));
  };
  switch (codec.exchange(round)) {
    case Exchange::kAllReduce: {
      const auto bytes =
          static_cast<std::uint64_t>(codec.payload_bytes(shape, dtype, context, round));
      return adds_in_rank_order && codec.rounds() == 1 ? all_gather_wire_bytes(bytes, ranks)
                                                       : all_reduce_wire_bytes(bytes, ranks);
    }
    case Exchange::kGather: return all_gather_wire_bytes(bytes_to(context.rank), ranks);
    case Exchange::kAllToAll: break;
  }
  std::uint64_t sent = 0;
  for (std::uint32_t to = 0; to < context.ranks; ++to)
    if (to != context.rank) sent += bytes_to(to);
  return sent;
}

SentBytes sent_bytes(const Codec& codec, const Shape& shape, DType dtype, std::uint32_t ranks,
                     Phase phase) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.samples));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  const Context context = context_of(ranks, ids, phase);
  const auto state = codec.make_state(shape, dtype, ranks);
  SentBytes sent;
  if (codec.exchange(0) == Exchange::kAllToAll) {
    sent.two_step = in_parts(codec, shape, dtype, context);
    return sent;
  }
  double reduced = 0;
  double gathered = 0;
  bool is_reduced = true;
  for (int round = 0; round < codec.rounds(); ++round) {
    const auto bytes =
        static_cast<double>(codec.payload_bytes(shape, dtype, context, round, state.get()));
    is_reduced = is_reduced && codec.exchange(round) == Exchange::kAllReduce;
    reduced += all_reduce_wire_bytes(bytes, static_cast<int>(ranks));
    gathered += all_gather_wire_bytes(bytes, static_cast<int>(ranks));
  }
  sent.gather = gathered;
  if (is_reduced) sent.all_reduce = reduced;
  if (codec.rounds() == 1 && codec.properties().state == StateKind::kNone &&
      !codec.properties().learned)
    sent.two_step = two_step(codec, shape, dtype, ranks);
  return sent;
}

double reference_sent_bytes(const Shape& shape, std::uint32_t ranks) {
  return all_reduce_wire_bytes(2.0 * static_cast<double>(shape.elements()),
                               static_cast<int>(ranks));
}

}  // namespace tersor::compressors
