// SPDX-License-Identifier: Apache-2.0
#include "results/text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/hash.hpp"
#include "common/hex.hpp"
#include "common/utc_time.hpp"

namespace tersor::results {

std::string hash_of(std::string_view bytes) { return hex(xxh64(bytes)); }

std::string utc_now() { return tersor::utc_now(true); }

std::string clean_text(std::string_view text) {
  using nlohmann::json;
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string clean = json::parse(quoted).get<std::string>();
  std::replace(clean.begin(), clean.end(), '\0', ' ');
  return clean;
}

}  // namespace tersor::results
