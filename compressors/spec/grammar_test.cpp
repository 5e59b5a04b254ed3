// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/grammar.hpp"

#include <catch2/catch.hpp>

#include "common/error.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

/// Column of the mistake, or 0 where there is none.
int mistake_column(const std::string& text) {
  try {
    parse_spec(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kSpec);
    return error.column();
  }
  return 0;
}

}  // namespace

TEST_CASE("specs parse into words, keys and nested specs with columns") {
  const SpecNode node = parse_spec("ef( hadamard(quantize( bits = 3 ), block=64) )");
  CHECK(node.word == "ef");
  CHECK(node.text() == "ef(hadamard(quantize(bits=3),block=64))");
  const SpecNode& hadamard = node.arguments.at(0).value;
  CHECK(hadamard.column == 5);
  CHECK(hadamard.arguments.at(1).key == "block");
  CHECK(hadamard.arguments.at(1).value.word == "64");
  CHECK(hadamard.arguments.at(1).value.column == 42);
  const SpecArgument& bits = hadamard.arguments.at(0).value.arguments.at(0);
  CHECK(bits.key == "bits");
  CHECK(bits.key_column == 24);
  CHECK(parse_spec(" none ").text() == "none");
  CHECK(parse_spec("none()").has_parentheses);
}

TEST_CASE("mistakes are reported where they stand") {
  CHECK(mistake_column("quantize") == 0);
  CHECK(mistake_column("") == 1);
  CHECK(mistake_column("   ") == 4);
  CHECK(mistake_column("quantize(") == 10);
  CHECK(mistake_column("quantize)") == 9);
  CHECK(mistake_column("quantize()x") == 11);
  CHECK(mistake_column("quantize(,)") == 10);
  CHECK(mistake_column("quantize(bits=)") == 15);
  CHECK(mistake_column("quantize(bits=4,)") == 17);
  CHECK(mistake_column("quantize(bits=4 (") == 18);
  CHECK(mistake_column("quantize(bits=4") == 16);
  CHECK(mistake_column("(none)") == 1);
  CHECK(mistake_column("topk(ratio={0.1,0.2})") == 12);
  CHECK(mistake_column("a=b") == 2);
}

TEST_CASE("deep and long specs are refused, not overflown") {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "ef(";
  CHECK_THROWS_AS(parse_spec(deep), Error);
  std::string nested = "none";
  for (int i = 0; i < 32; ++i) nested = "f(" + nested + ")";
  CHECK(parse_spec(nested).text() == nested);
  CHECK_THROWS_AS(parse_spec("f(" + nested + ")"), Error);
}
