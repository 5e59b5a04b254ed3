// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/testing/program.hpp"
#include "results/schema/migrations.hpp"

using tersor::harness::testing::Workplace;

namespace {

std::string stored(const std::string& name) {
  std::ifstream file("results/schema/stored/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the results of an older tersor stay: none of its finished runs runs again") {
  const Workplace place;
  {
    SQLite::Database db(place.path("results.db").string(),
                        SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec(stored("version4_run.sql"));
    db.exec("PRAGMA user_version = 4");
    db.exec("PRAGMA application_id = " + std::to_string(tersor::results::kApplicationId));
  }
  place.write("matrix.json", stored("version4_run.json"));
  const std::string plan = "stored: 11 runs, 0 to do, 10 in the database, 1 infeasible";
  const auto before = place.run("crash", {"--dry-run"});  // reads a copy that it migrates
  CHECK_THAT(before.output, Catch::StartsWith(plan));
  const auto result = place.run("crash");
  CHECK(result.status == 3);
  CHECK_THAT(result.output, Catch::StartsWith(plan));
  CHECK(place.query("SELECT status, count(*) FROM run GROUP BY 1 ORDER BY 1") ==
        std::vector<std::string>{"infeasible | 1", "ok | 10"});
}
