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
  double gather = 0;                 ///< all-gather of payloads
  std::optional<double> two_step;    ///< stateless codecs of one round only
};

SentBytes sent_bytes(const Codec& codec, const Shape& shape, DType dtype, std::uint32_t ranks);

/// The reference: cast(format=bf16) by ring all-reduce.
double reference_sent_bytes(const Shape& shape, std::uint32_t ranks);

/// Rows of chunk `index` of `ranks`: the first rows mod ranks chunks are one longer.
std::int64_t chunk_rows(std::int64_t rows, std::uint32_t ranks, std::uint32_t index);

}  // namespace tersor::compressors
