// SPDX-License-Identifier: Apache-2.0
#include "common/printable.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "common/error.hpp"

using tersor::printable;

TEST_CASE("text for a terminal keeps words and shows control bytes") {
  CHECK(printable("topk: ratio 1.5\n\tnot in (0, 1]") == "topk: ratio 1.5\n\tnot in (0, 1]");
  CHECK(printable("\x1b[31mred\r\x07\x7f") == "\\x1b[31mred\\x0d\\x07\\x7f");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("").empty());
}

TEST_CASE("a zero byte does not end an error's message") {
  const std::string text("top\0k(ratio=2)", 14);
  const tersor::Error error(tersor::ErrorKind::kSpec, "no codec '" + text + "'");
  CHECK(std::string(error.what()) == "no codec 'top\\x00k(ratio=2)'");
}

TEST_CASE("characters that turn the direction of writing are shown byte by byte") {
  // The first and the last of each block, and their neighbours, which stay.
  CHECK(printable("a\u202ab\u202e") == "a\\xe2\\x80\\xaab\\xe2\\x80\\xae");
  CHECK(printable("\u2066\u2069") == "\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
  CHECK(printable("\u200e\u200f\u061c") == "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c");
  for (const char* word : {"\u200d", "\u2029", "\u202f", "\u2065", "\u206a", "\u05d0"})
    CHECK(printable(word) == word);
}

TEST_CASE("UTF-8 stays, C1 controls and broken UTF-8 are shown byte by byte") {
  // é, €, the last of three bytes, the first of four, the last of all.
  for (const char* word : {"\u00e9", "\u20ac", "\uffff", "\U00010000", "\U0010ffff"})
    CHECK(printable(word) == word);
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");                    // CSI of one character
  CHECK(printable("\x9b") == "\\x9b");                             // and of one byte
  CHECK(printable("\xc0\x9b") == "\\xc0\\x9b");                    // ESC in two bytes
  CHECK(printable("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");           // and in three
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half a surrogate pair
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // above the last
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");                    // cut short
  CHECK(printable("\xe2\x1b\x5b") == "\\xe2\\x1b[");
  CHECK(printable("\xff") == "\\xff");
}
