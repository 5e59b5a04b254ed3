// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace tersor::protocol {

/// Of job file and spool (docs/spool.md). A field that readers may miss does not change it.
inline constexpr std::int64_t kFormat = 1;

/// Why this program cannot read that format; empty where it can.
inline std::string refuses_format(std::int64_t format) {
  if (format == kFormat) return "";
  return std::to_string(format) + " is not the format that this tersor reads (" +
         std::to_string(kFormat) + ")";
}

}  // namespace tersor::protocol
