// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "common/tensor.hpp"

namespace tersor::compressors {

/// Where a call on a device puts n decoded elements.
struct DecodeTarget {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  bool is_accumulated = false;  ///< add to what is there
  /// Codec::decodes_to_feedback: an array for each payload (eight at most), to which that is added;
  /// the arrays' values then take the payloads' place in the sum, and stay, non-finite ones as 0.
  std::span<float* const> feedback{};
};

/// A wrapper's error-feedback or difference memory on a device: n floats that encode_with_feedback
/// reads and rewrites. A non-finite one counts as 0.
struct FeedbackArray {
  enum Meaning : std::uint8_t {
    kNegativeError,  ///< -e: sends x + e, leaves -(x + e) + decoded
    kResult,         ///< g: sends x - g, leaves g + decoded
    kSample          ///< the same of values that may be -0: a sample as it was first seen
  };
  float* values = nullptr;
  Meaning meaning = kResult;
};

}  // namespace tersor::compressors
