// SPDX-License-Identifier: Apache-2.0
#include "common/shell_word.hpp"

#include <catch2/catch.hpp>

using tersor::shell_word;

TEST_CASE("words for a shell are quoted where they must be") {
  CHECK(shell_word("results/a-1.db") == "results/a-1.db");
  CHECK(shell_word("a b.db") == "'a b.db'");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("it's") == R"('it'\''s')");
  CHECK(shell_word("$(x);*?") == "'$(x);*?'");
  CHECK(shell_word("~/a.db") == "'~/a.db'");
}
