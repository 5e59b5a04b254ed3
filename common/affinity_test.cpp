// SPDX-License-Identifier: Apache-2.0
#include "common/affinity.hpp"

#include <catch2/catch.hpp>
#include <thread>

using namespace tersor;
using Cores = std::vector<int>;

TEST_CASE("ranks take cores in turn, round and round") {
  const Cores cores{2, 3, 5, 7};
  CHECK(cores_of_rank(cores, 0, 1) == Cores{2});
  CHECK(cores_of_rank(cores, 3, 1) == Cores{7});
  CHECK(cores_of_rank(cores, 4, 1) == Cores{2});
  CHECK(cores_of_rank(cores, 1, 2) == Cores{5, 7});
  CHECK(cores_of_rank(cores, 1, 3) == Cores{7, 2, 3});
  CHECK(cores_of_rank(cores, 1, 9).size() == 4);
  CHECK(cores_of_rank({}, 1, 2).empty());
}

TEST_CASE("a pinned thread may run on its cores only") {
  const Cores before = allowed_cores();
  REQUIRE_FALSE(before.empty());
  bool is_pinned = false;
  Cores after;
  std::thread([&] {
    is_pinned = pin_to_cores(Cores{before.back()});
    after = allowed_cores();
  }).join();
  CHECK(is_pinned);
  CHECK(after == Cores{before.back()});
  CHECK(allowed_cores() == before);
  CHECK_FALSE(pin_to_cores({}));  // no core at all
}
