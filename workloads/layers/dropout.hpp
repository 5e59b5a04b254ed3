// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "common/philox.hpp"

namespace tersor::workloads {

/// A rank's part of a tensor {outer, whole}: columns [begin, begin + part).
struct Cut {
  std::int64_t outer = 1;
  std::int64_t part = 1;
  std::int64_t whole = 1;
  std::int64_t begin = 0;
};

/// Factors of dropout for a rank's part: 0 where the element's 32-bit draw is below rate * 2^32,
/// else 1 / (1 - rate). The element is the index in the whole tensor, so the tensor-parallel degree
/// does not matter. `out` has outer * part values.
void dropout_factors(double rate, const Stream& stream, const Cut& cut, std::span<float> out);

}  // namespace tersor::workloads
