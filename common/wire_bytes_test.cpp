// SPDX-License-Identifier: Apache-2.0
#include "common/wire_bytes.hpp"

#include <catch2/catch.hpp>

using namespace tersor;

TEST_CASE("wire bytes of one rank follow the algorithms") {
  CHECK(all_reduce_wire_bytes(std::uint64_t{1000}, 1) == 0);
  CHECK(all_reduce_wire_bytes(std::uint64_t{1000}, 2) == 1000);
  CHECK(all_reduce_wire_bytes(std::uint64_t{1000}, 4) == 1500);
  CHECK(all_reduce_wire_bytes(std::uint64_t{1001}, 4) == 1501);
  CHECK(all_reduce_wire_bytes(1001.0, 4) == 1501.5);
  CHECK(all_gather_wire_bytes(std::uint64_t{1000}, 1) == 0);
  CHECK(all_gather_wire_bytes(std::uint64_t{1000}, 4) == 3000);
  CHECK(all_gather_wire_bytes(0.5, 4) == 1.5);
  CHECK(all_to_all_wire_bytes(1000, 1) == 0);
  CHECK(all_to_all_wire_bytes(1000, 4) == 750);
}
