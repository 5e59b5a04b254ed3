// SPDX-License-Identifier: Apache-2.0
#include "common/hex.hpp"

#include <array>
#include <catch2/catch.hpp>

TEST_CASE("numbers have 16 digits, bytes two each") {
  using tersor::hex;
  CHECK(hex(std::uint64_t{0}) == "0000000000000000");
  CHECK(hex(std::uint64_t{0x0123456789ABCDEF}) == "0123456789abcdef");
  const std::array bytes{std::byte{0}, std::byte{0x7F}, std::byte{0xF0}};
  CHECK(hex(bytes) == "007ff0");
  CHECK(hex(std::span<const std::byte>{}).empty());
}
