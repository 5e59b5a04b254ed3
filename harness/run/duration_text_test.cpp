// SPDX-License-Identifier: Apache-2.0
#include "harness/run/duration_text.hpp"

#include <catch2/catch.hpp>

using tersor::harness::duration_text;

TEST_CASE("durations in the units that a reader wants") {
  CHECK(duration_text(0) == "0.0 s");
  CHECK(duration_text(9.94) == "9.9 s");
  CHECK(duration_text(9.96) == "10 s");
  CHECK(duration_text(59.4) == "59 s");
  CHECK(duration_text(59.6) == "1 min 00 s");
  CHECK(duration_text(80) == "1 min 20 s");
  CHECK(duration_text(3 * 3600 + 5 * 60) == "3 h 05 min");
}
