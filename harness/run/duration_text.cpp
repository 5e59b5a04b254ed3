// SPDX-License-Identifier: Apache-2.0
#include "harness/run/duration_text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace tersor::harness {

std::string duration_text(double seconds) {
  std::array<char, 48> text{};
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (seconds < 9.95) {
    std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  } else if (whole < 60) {
    std::snprintf(text.data(), text.size(), "%lld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text.data(), text.size(), "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  }
  return text.data();
}

}  // namespace tersor::harness
