// SPDX-License-Identifier: Apache-2.0
#include "common/number.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace tersor;

TEST_CASE("numbers print as the shortest decimals that read back, without exponent") {
  CHECK(format_number(0.1) == "0.1");
  CHECK(format_number(0.10) == "0.1");
  CHECK(format_number(1.0) == "1");
  CHECK(format_number(1e-5) == "0.00001");
  CHECK(format_number(1e22) == "10000000000000000000000");
  CHECK(format_number(0.1 + 0.2) == "0.30000000000000004");
  CHECK(format_number(-0.0) == "0");
  CHECK(format_number(-2.5) == "-2.5");
  CHECK(format_number(std::numeric_limits<double>::denorm_min()).size() == 326);
  CHECK(format_number(std::numeric_limits<double>::max()).size() == 309);
  CHECK(format_number(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("numbers are read whole or not at all") {
  CHECK(parse_integer("12") == 12);
  CHECK(parse_integer("+12") == 12);
  CHECK(parse_integer("-3") == -3);
  for (const char* bad :
       {"", "+", "4.0", "1_000", "1e3", " 4", "4 ", "0x10", "+-1", "9223372036854775808"})
    CHECK_FALSE(parse_integer(bad));
  CHECK(parse_whole_number("012") == 12);
  CHECK(parse_whole_number("0") == 0);
  for (const char* bad : {"", "+1", "-1", "-0", "1.0", "1 ", "9223372036854775808"})
    CHECK_FALSE(parse_whole_number(bad));
  CHECK(parse_real("1e-5") == 1e-5);
  CHECK(parse_real(".5") == 0.5);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "0.1x", "0,1"})
    CHECK_FALSE(parse_real(bad));
  CHECK(parse_unsigned("18446744073709551615") == 18446744073709551615u);
  CHECK(parse_unsigned("0xff") == 255);
  CHECK_FALSE(parse_unsigned("-1"));
}
