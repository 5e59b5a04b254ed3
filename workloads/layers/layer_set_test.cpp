// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/layer_set.hpp"

#include <catch2/catch.hpp>

#include "common/error.hpp"

using tersor::workloads::layers_of;
using tersor::workloads::warmup_steps;
using Layers = std::vector<bool>;

TEST_CASE("layers: every form") {
  CHECK(layers_of("all", 3) == Layers{true, true, true});
  CHECK(layers_of("none", 3) == Layers{false, false, false});
  CHECK(layers_of("last:1", 3) == Layers{false, false, true});
  CHECK(layers_of("first:2", 3) == Layers{true, true, false});
  CHECK(layers_of("1-2", 4) == Layers{false, true, true, false});
}

TEST_CASE("layers: errors name the limit") {
  CHECK_THROWS_WITH(layers_of("last:4", 3), Catch::Contains("the model has 3 layers"));
  CHECK_THROWS_WITH(layers_of("1-3", 3), Catch::Contains("layers are 0 to 2"));
  CHECK_THROWS_WITH(layers_of("2-1", 3), Catch::Contains("needs A <= B"));
  for (const char* text :
       {"", "some", "last:", "last:0", "last:-1", "last:x", "1-", "-1", "1-2-3", "1 - 2"})
    CHECK_THROWS_AS(layers_of(text, 6), tersor::Error);
}

TEST_CASE("warmup: steps and epochs") {
  CHECK(warmup_steps("0", 80) == 0);
  CHECK(warmup_steps("20", 80) == 20);
  CHECK(warmup_steps("20 steps", 80) == 20);
  CHECK(warmup_steps("2 epochs", 80) == 160);
  for (const char* text : {"", "x", "-1", "2 weeks", "1.5 epochs"})
    CHECK_THROWS_AS(warmup_steps(text, 80), tersor::Error);
}
