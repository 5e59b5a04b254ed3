// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/pass.hpp"

#include "common/error.hpp"

namespace tersor::workloads {

std::uint16_t pass_call(std::int64_t index) {
  if (index < 0 || index >= kMaxCalls)
    throw Error(ErrorKind::kUsage, "call " + std::to_string(index) + " not in [0, " +
                                       std::to_string(kMaxCalls) +
                                       "): random streams count calls in 16 bits");
  return static_cast<std::uint16_t>(index);
}

}  // namespace tersor::workloads
