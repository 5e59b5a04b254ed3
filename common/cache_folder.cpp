// SPDX-License-Identifier: Apache-2.0
#include "common/cache_folder.hpp"

#include <cstdlib>

namespace tersor {

std::filesystem::path cache_folder() {
  namespace fs = std::filesystem;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return fs::path(cache) / "tersor";
  const char* home = std::getenv("HOME");
  return fs::path(home ? home : ".") / ".cache" / "tersor";
}

}  // namespace tersor
