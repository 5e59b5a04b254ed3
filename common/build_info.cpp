// SPDX-License-Identifier: Apache-2.0
#include "common/build_info.hpp"

namespace tersor {

std::string build_version() {
  const BuildInfo& info = build_info();
  constexpr std::size_t kShort = 12;
  std::string text = info.version;
  if (!info.git_sha.empty())
    text += " (" + info.git_sha.substr(0, kShort) + (info.diff_hash.empty() ? ")" : ", changed)");
  return text;
}

}  // namespace tersor
