// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// Wire bytes that one rank sends for one message at a sum of `ranks` ranks (METHODS section 1,
/// "Volume"): the most of all ranks where they differ.
struct SentBytes {
  std::optional<double> all_reduce;  ///< ring; codecs that cross by all-reduce only
  std::optional<double> gather;      ///< all-gather of payloads; not of a sum in two steps
  std::optional<double> two_step;    ///< `twostep`, and stateless codecs of one round as its codec
};

/// What rank `context.rank` of `context.ranks` sends in one round, by the round's collective;
/// `adds_in_rank_order`: a sum of one round goes by gather. Nothing where only the message tells
/// (payloads of varying size).
std::optional<std::uint64_t> round_wire_bytes(const Codec& codec, const Shape& shape, DType dtype,
                                              const Context& context, int round,
                                              bool adds_in_rank_order);

/// Of a message to a new state. `phase`: at kEval a codec with a state by sample takes every
/// sample for one that it has met, so that these are the bytes of later visits.
SentBytes sent_bytes(const Codec& codec, const Shape& shape, DType dtype, std::uint32_t ranks,
                     Phase phase = Phase::kTrain);

/// The reference: cast(format=bf16) by ring all-reduce.
double reference_sent_bytes(const Shape& shape, std::uint32_t ranks);

/// Rows of chunk `index` of `ranks`: the first rows mod ranks chunks are one longer.
std::int64_t chunk_rows(std::int64_t rows, std::uint32_t ranks, std::uint32_t index);

}  // namespace tersor::compressors
