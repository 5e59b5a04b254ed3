// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tersor::harness {

/// "0.4 s", "12 s", "1 min 20 s", "3 h 05 min".
std::string duration_text(double seconds);

}  // namespace tersor::harness
