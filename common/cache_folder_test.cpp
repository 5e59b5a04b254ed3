// SPDX-License-Identifier: Apache-2.0
#include "common/cache_folder.hpp"

#include <catch2/catch.hpp>

#include "common/variable_for_test.hpp"

using tersor::testing::Variable;

TEST_CASE("the cache is where XDG_CACHE_HOME says, else in the home folder") {
  const Variable home("HOME", "/nowhere/someone");
  {
    const Variable cache("XDG_CACHE_HOME", "/somewhere");
    CHECK(tersor::cache_folder() == "/somewhere/tersor");
  }
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    const Variable cache("XDG_CACHE_HOME", unset);
    CHECK(tersor::cache_folder() == "/nowhere/someone/.cache/tersor");
  }
}
