// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tersor::workloads {

class Parameters;

/// Elements of the whole, unsharded model without codec weights, and the bytes that this process
/// holds.
struct ParameterCounts {
  std::int64_t all = 0;
  std::int64_t trainable = 0;
  std::uint64_t bytes = 0;
};
ParameterCounts count_parameters(const Parameters& parameters);

}  // namespace tersor::workloads
