// SPDX-License-Identifier: Apache-2.0
#include "common/json_parse.hpp"

#include <catch2/catch.hpp>

namespace tersor {
namespace {

using Catch::Contains;

std::string complaint_of(const std::string& text) {
  try {
    parse_json<nlohmann::json>(text, "x.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kData);
    return error.what();
  }
  return "taken";
}

TEST_CASE("what JSON has no value for is named where it stands") {
  CHECK(complaint_of("{\"a\": [1,\n 1e400]}") ==
        "x.json:2:2: the number 1e400 is out of range: binary64 ends at 1.8e308");
  CHECK_THAT(complaint_of("-1e999"), Contains("x.json:1:1: ") && Contains("-1e999"));
  CHECK_THAT(complaint_of("{\"a 1e400\": 2e400}"), Contains(":1:13: ") && Contains("2e400"));
  CHECK(complaint_of("[1, NaN]") ==
        "x.json:1:5: not JSON: it has no NaN (write null, or leave the value out)");
  CHECK_THAT(complaint_of("{\"x\": -Infinity}"), Contains(":1:7: ") && Contains("-Infinity"));
  CHECK_THAT(complaint_of("{\"NaN\": 1,}"), Contains(":1:11: not JSON: syntax error"));
  CHECK_THAT(complaint_of(""), Contains("x.json:1:1: not JSON"));
  CHECK_THAT(complaint_of("\"\\"), Contains("x.json:1:3: not JSON"));
  CHECK_THAT(complaint_of("\"\xFF\""), Contains("x.json:1:2: not JSON") && Contains("UTF-8"));
  CHECK(complaint_of("[1e308, -0.0, 5e-324, 18446744073709551616]") == "taken");
}

TEST_CASE("nesting and members have a limit") {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK(complaint_of(nested(64)) == "taken");
  CHECK(complaint_of(nested(65)) == "x.json:1:65: nested deeper than 64 levels");
  CHECK_THAT(complaint_of(nested(5'000'000)), Contains("nested deeper"));
  CHECK(complaint_of("[\"" + std::string(100, '[') + "\"]") == "taken");
  std::string members = "{";
  for (int i = 0; i < 4097; ++i) members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  CHECK_THAT(complaint_of(members + "}"), Contains("an object of more than 4096 members"));
  CHECK(parse_json<nlohmann::json>(members + "}", "x", 1, ErrorKind::kData, 4097).size() == 4097);
}

TEST_CASE("a key that an object has twice is refused, however it is written") {
  CHECK(complaint_of("{\"a\": 1, \"a\": 2}") == "x.json:1:10: the key \"a\" is given twice");
  CHECK_THAT(complaint_of("[{\"x\": [{}, {\"a\": 1,\n \"\\u0061\": 2}]}]"),
             Contains("x.json:2:2: the key \"\\u0061\" is given twice"));
  CHECK(complaint_of("[{\"a\": {\"a\": \"a:\"}}, {\"a\": 2, \":\": 3}]") == "taken");
}

TEST_CASE("a zero byte does not end a text") {
  const std::string text = "{\"a\": 1}";
  CHECK(complaint_of(text + std::string(1, '\0') + "\" \"b\": {\"a\": 2") ==
        "x.json:1:9: not JSON: a zero byte");
}

TEST_CASE("lines are counted from the text's place in its file") {
  CHECK_THROWS_WITH(parse_json<nlohmann::ordered_json>("{\n]", "rank0.jsonl", 7, ErrorKind::kUsage),
                    Contains("rank0.jsonl:8:1: not JSON"));
}

}  // namespace
}  // namespace tersor
