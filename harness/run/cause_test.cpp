// SPDX-License-Identifier: Apache-2.0
// What follows from the cause of a run, with the real program and the fake worker.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "harness/testing/program.hpp"

using tersor::harness::testing::run_program;
using tersor::harness::testing::Workplace;

namespace {

constexpr const char* kRuns = "SELECT seed, attempt, status FROM run ORDER BY seed, attempt";
using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("the cause alone says whether a run is run again") {
  const Workplace place;
  place.write_matrix("1, 2, 3");
  CHECK(place.run("1=early;2=told").status == 1);
  CHECK(place.query("SELECT seed, status, cause FROM run ORDER BY seed") ==
        Rows{"1 | failed | refused", "2 | failed | interrupted", "3 | ok | none"});
  const auto changed =
      run_program({"/usr/bin/sqlite3", place.path("results.db").string(),
                   "UPDATE run SET reason = 'interrupted by a word' WHERE seed = 1; "
                   "UPDATE run SET reason = 'a signal' WHERE seed = 2;"});
  if (changed.status == 127) {
    WARN("sqlite3 is not installed");
    return;
  }
  const auto again = place.run("ok");
  INFO(again.output);
  CHECK(again.status == 1);
  CHECK(place.query(kRuns) == Rows{"1 | 1 | failed", "2 | 1 | failed", "2 | 2 | ok", "3 | 1 | ok"});
}

TEST_CASE("the rank that failed by itself decides, not the one that lost it") {
  const Workplace place;
  place.write_matrix("1");
  CHECK(place.run("alone").status == 1);
  CHECK(place.query("SELECT status, cause, reason FROM run") ==
        Rows{"failed | defect | rank 1: check failed: x > 0"});
  CHECK(place.query("SELECT rank, cause FROM process ORDER BY rank") ==
        Rows{"0 | lost_peer", "1 | defect"});
}
