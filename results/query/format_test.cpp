// SPDX-License-Identifier: Apache-2.0
#include "results/query/format.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.hpp"
#include "results/query/reader.hpp"
#include "results/testing/sweep.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using nlohmann::json;
using testing::Sweep;

std::string text_of(const QueryResult& result, Format format) {
  std::ostringstream out;
  write_result(out, result, format);
  return out.str();
}

QueryResult odd_values() {
  QueryResult result;
  result.columns = {"name", "value", "note"};
  result.rows = {{std::string("a|b"), 0.1, std::string("say \"hi\", then\nleave")},
                 {std::string("gr\xc3\xbc\xc3\x9f"), std::int64_t{-7}, std::string()},
                 {std::monostate{}, std::numeric_limits<double>::infinity(), Blob{"\x01\xff"}}};
  return result;
}

TEST_CASE("formats are golden") {
  const QueryResult result = odd_values();
  CHECK(text_of(result, Format::kTable) ==
        "name  value  note\n"
        "----  -----  ---------------------\n"
        "a|b     0.1  say \"hi\", then\\nleave\n"
        "gr\xc3\xbc\xc3\x9f     -7\n"
        "        inf  <2 bytes>\n");
  CHECK(text_of(result, Format::kMarkdown) ==
        "| name | value | note |\n"
        "| --- | ---: | --- |\n"
        "| a\\|b | 0.1 | say \"hi\", then\\\\nleave |\n"
        "| gr\xc3\xbc\xc3\x9f | -7 |  |\n"
        "|  | inf | \\<2 bytes> |\n");
  CHECK(text_of(result, Format::kCsv) ==
        "name,value,note\n"
        "a|b,0.1,\"say \"\"hi\"\", then\nleave\"\n"
        "gr\xc3\xbc\xc3\x9f,-7,\"\"\n"
        ",inf,01ff\n");
  CHECK(text_of(result, Format::kJson) ==
        "[\n {\"name\":\"a|b\",\"value\":0.1,\"note\":\"say \\\"hi\\\", then\\nleave\"},\n"
        " {\"name\":\"gr\xc3\xbc\xc3\x9f\",\"value\":-7,\"note\":\"\"},\n"
        " {\"name\":null,\"value\":\"Infinity\",\"note\":\"01ff\"}\n]\n");
  QueryResult empty;
  empty.columns = {"x"};
  CHECK(text_of(empty, Format::kJson) == "[]\n");
  CHECK(text_of(empty, Format::kCsv) == "x\n");
  CHECK(short_number(2400880123.4) == "2400880123");
  CHECK(short_number(0.1234567) == "0.123457");
  CHECK(exact_number(5.1e7) == "51000000");
  CHECK(exact_number(1e-7) == "1e-07");
  CHECK_THROWS_AS(parse_format("xml"), Error);
}

TEST_CASE("what a terminal or a spreadsheet would obey is escaped, and data are as they are") {
  QueryResult result;
  result.columns = {"\x1b[2J", "b"};
  result.rows = {{std::string("\x1b[2J\xc2\x9b\xe2\x80\xae\xff"), std::string("`<b>`")},
                 {std::string("=1+2"), std::int64_t{-3}},
                 {std::string("@x,y"), std::string("-")}};
  for (const Format format : {Format::kTable, Format::kMarkdown})
    CHECK_THAT(text_of(result, format), Contains("x1b[2J") && Contains("xc2") && Contains("xe2") &&
                                            Contains("xff") && !Contains("\x1b") &&
                                            !Contains("\x9b") && !Contains("\xe2\x80\xae"));
  CHECK_THAT(text_of(result, Format::kMarkdown), Contains("\\`\\<b>\\`"));
  CHECK_THAT(text_of(result, Format::kCsv),
             Contains("\x1b[2J,b\n\x1b[2J\xc2\x9b\xe2\x80\xae\xff,`<b>`\n=1+2,-3\n\"@x,y\",-\n"));
  CHECK_THAT(text_of(result, Format::kSheet), Contains("\n'=1+2,-3\n\"'@x,y\",'-\n"));
  CHECK_THAT(text_of(result, Format::kJson), Contains("\"=1+2\",\"b\":-3"));
}

TEST_CASE("JSON stays valid whatever the values are") {
  const Sweep sweep;
  Reader reader(sweep.path);
  const QueryResult result = reader.query(
      "SELECT 1 AS a, 2 AS a, 3 AS a, 1e999 AS b, cast(x'ff41' AS text) AS c, 9007199254740993 AS "
      "d, "
      "0.1 + 0.2 AS e, x'00' AS f, 'q\"\\' AS g");
  const json parsed = json::parse(text_of(result, Format::kJson)).at(0);
  CHECK(parsed.size() == 9);
  CHECK(parsed.at("a_2") == 2);
  CHECK(parsed.at("a_3") == 3);
  CHECK(parsed.at("b") == "Infinity");
  CHECK(parsed.at("d") == 9007199254740993);
  CHECK(parsed.at("e") == 0.30000000000000004);
  CHECK(parsed.at("g") == "q\"\\");
}

}  // namespace
}  // namespace tersor::results
