// SPDX-License-Identifier: Apache-2.0
#include "common/build_info.hpp"

#include <catch2/catch.hpp>

TEST_CASE("the build tells what it was made from") {
  const tersor::BuildInfo& info = tersor::build_info();
  CHECK_FALSE(info.version.empty());
  CHECK_FALSE(info.compiler.empty());
  // Forty hex digits, or nothing where the source is not a git tree.
  if (!info.git_sha.empty()) {
    CHECK(info.git_sha.size() == 40);
    CHECK(info.git_sha.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(info.committed_at.size() == std::string("2026-01-01T00:00:00Z").size());
    CHECK(tersor::build_version().find(info.git_sha.substr(0, 12)) != std::string::npos);
  }
  CHECK((info.diff_hash.empty() || info.diff_hash.size() == 64));
}
