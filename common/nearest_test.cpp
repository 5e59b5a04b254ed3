// SPDX-License-Identifier: Apache-2.0
#include "common/nearest.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

TEST_CASE("the nearest name") {
  const std::vector<std::string> names{"none", "cast", "topk", "quantize"};
  CHECK(tersor::nearest_name("tpok", names) == "topk");
  CHECK(tersor::nearest_name("TOPK", names) == "topk");
  CHECK(tersor::nearest_name("quantise", names) == "quantize");
  CHECK(tersor::nearest_name("zz", names).empty());
  CHECK(tersor::nearest_name("", names).empty());
  CHECK(tersor::nearest_name("x", {}).empty());
  CHECK(tersor::known_names_hint("zz", {"a", "b"}) == " (known: a, b)");
}
