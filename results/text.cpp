// SPDX-License-Identifier: Apache-2.0
#include "results/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "common/hash.hpp"
#include "common/hex.hpp"

namespace tersor::results {

std::string hash_of(std::string_view bytes) { return hex(xxh64(bytes)); }

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ",
                static_cast<int>(milliseconds % 1000));
  return text.data();
}

std::string clean_text(std::string_view text) {
  using nlohmann::json;
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string clean = json::parse(quoted).get<std::string>();
  std::replace(clean.begin(), clean.end(), '\0', ' ');
  return clean;
}

}  // namespace tersor::results
