// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_lock.hpp"

#include <catch2/catch.hpp>

#include "harness/testing/program.hpp"

namespace fs = std::filesystem;
using tersor::harness::runs_folder;

TEST_CASE("one runs folder, however the database is spelt") {
  const tersor::harness::testing::Workplace place;
  const fs::path expected = fs::canonical(place.path("")) / "results.db.runs";
  CHECK(runs_folder(place.path("results.db")) == expected);
  CHECK(runs_folder(place.path("./results.db")) == expected);
  fs::create_symlink(place.path("results.db"), place.path("link.db"));
  place.write("results.db", "");
  CHECK(runs_folder(place.path("link.db")) == expected);
  CHECK(runs_folder("bare.db") == fs::current_path() / "bare.db.runs");
}
