// SPDX-License-Identifier: Apache-2.0
#include "common/utc_time.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace tersor {

std::string utc_now(bool has_milliseconds) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (!has_milliseconds) return std::string(text.data(), length) + "Z";
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ",
                static_cast<int>(milliseconds % 1000));
  return text.data();
}

}  // namespace tersor
