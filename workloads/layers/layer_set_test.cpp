// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/layer_set.hpp"

#include <catch2/catch.hpp>

#include "common/error.hpp"

using tersor::workloads::parse_layers;
using tersor::workloads::parse_warmup;
using Layers = std::vector<bool>;

TEST_CASE("layers: every form") {
  CHECK(parse_layers("all", 3) == Layers{true, true, true});
  CHECK(parse_layers("none", 3) == Layers{false, false, false});
  CHECK(parse_layers("last:1", 3) == Layers{false, false, true});
  CHECK(parse_layers("first:2", 3) == Layers{true, true, false});
  CHECK(parse_layers("1-2", 4) == Layers{false, true, true, false});
  CHECK(parse_layers("last:0", 2) == Layers{false, false});
}

TEST_CASE("layers: errors name the limit") {
  CHECK_THROWS_WITH(parse_layers("last:4", 3), Catch::Contains("the model has 3 layers"));
  CHECK_THROWS_WITH(parse_layers("1-3", 3), Catch::Contains("layers are 0 to 2"));
  CHECK_THROWS_WITH(parse_layers("2-1", 3), Catch::Contains("above the last"));
  for (const char* text : {"", "some", "last:", "last:-1", "last:x", "1-", "-1", "1-2-3", "1 - 2"})
    CHECK_THROWS_AS(parse_layers(text, 6), tersor::Error);
}

TEST_CASE("warmup: steps and epochs") {
  CHECK(parse_warmup("0", 80) == 0);
  CHECK(parse_warmup("20", 80) == 20);
  CHECK(parse_warmup("20 steps", 80) == 20);
  CHECK(parse_warmup("2 epochs", 80) == 160);
  for (const char* text : {"", "x", "-1", "2 weeks", "1.5 epochs"})
    CHECK_THROWS_AS(parse_warmup(text, 80), tersor::Error);
}
