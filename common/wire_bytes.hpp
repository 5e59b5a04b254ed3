// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor {

/// Bytes that one of `ranks` ranks sends, by the algorithm of the collective (METHODS section 1,
/// "Volume"): what workers record, `tersor codec inspect` foretells and reports scale to other
/// numbers of ranks. Whole bytes are rounded down.

/// Ring all-reduce of a buffer: 2(p-1)/p of it.
constexpr std::uint64_t all_reduce_wire_bytes(std::uint64_t buffer_bytes, int ranks) {
  const auto p = static_cast<std::uint64_t>(ranks);
  return 2 * (p - 1) * buffer_bytes / p;
}
constexpr double all_reduce_wire_bytes(double buffer_bytes, int ranks) {
  return 2.0 * (ranks - 1) / ranks * buffer_bytes;
}

/// All-gather of a payload of each rank: p-1 times the own one.
constexpr std::uint64_t all_gather_wire_bytes(std::uint64_t payload_bytes, int ranks) {
  return static_cast<std::uint64_t>(ranks - 1) * payload_bytes;
}
constexpr double all_gather_wire_bytes(double payload_bytes, int ranks) {
  return (ranks - 1.0) * payload_bytes;
}

/// All-to-all of a buffer in equal parts, of which the own one stays: (p-1)/p of it.
constexpr double all_to_all_wire_bytes(double buffer_bytes, int ranks) {
  return (ranks - 1.0) / ranks * buffer_bytes;
}

}  // namespace tersor
