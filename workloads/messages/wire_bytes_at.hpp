// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/wire_bytes.hpp"
#include "workloads/comm/collective.hpp"

namespace tersor::workloads {

/// Numbers of ranks for which the volume is recorded beside the measured one (METHODS section 1).
inline constexpr std::array<int, 3> kOtherRanks{2, 4, 8};

/// What a rank would send at each of kOtherRanks; nothing where that is not known.
struct WireBytesAt {
  std::array<std::optional<std::uint64_t>, kOtherRanks.size()> bytes{};

  /// Of a buffer of this size at every number of ranks.
  static WireBytesAt all_reduce(std::uint64_t buffer_bytes, SumOrder order) {
    WireBytesAt at;
    for (std::size_t i = 0; i < kOtherRanks.size(); ++i)
      at.bytes[i] = order == SumOrder::kLibrary
                        ? all_reduce_wire_bytes(buffer_bytes, kOtherRanks[i])
                        : all_gather_wire_bytes(buffer_bytes, kOtherRanks[i]);
    return at;
  }
  /// For sums that begin here.
  static WireBytesAt zero() {
    WireBytesAt at;
    at.bytes.fill(0);
    return at;
  }
  /// A sum with an unknown term is unknown.
  WireBytesAt& operator+=(const WireBytesAt& other) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] =
          bytes[i] && other.bytes[i] ? std::optional(*bytes[i] + *other.bytes[i]) : std::nullopt;
    return *this;
  }
};

}  // namespace tersor::workloads
