// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// How far a decoded tensor is from the original, in float64; nullopt where it is not a finite
/// number (an infinite or NaN element, a norm of 0, no elements).
struct ErrorMeasures {
  std::optional<double> max_abs_error;
  std::optional<double> relative_l2_error;  ///< |x - y| / |x|
  std::optional<double> cosine;
};

ErrorMeasures measure_errors(std::span<const float> original, std::span<const float> decoded);

/// One message encoded and decoded, state starting from zero.
struct RoundTrip {
  std::vector<std::byte> payload;  ///< of several rounds, one behind the other
  std::size_t metadata_bytes = 0;
  std::optional<double> ratio;  ///< raw bytes / payload bytes; nullopt for an empty payload
  std::vector<float> decoded;   ///< rounded to the message's dtype, as float32
  ErrorMeasures errors;
  std::int64_t encode_ns = 0;  ///< median of up to 9 calls within 0.2 s after a first one
  std::int64_t decode_ns = 0;
};

/// Rounds of all-reduce (`powersgd`) all take place, among one rank: each brings what it sent.
RoundTrip round_trip(const Codec& codec, const TensorView& in, const Context& context);

}  // namespace tersor::compressors
