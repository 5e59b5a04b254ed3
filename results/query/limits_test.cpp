// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <sstream>
#include <thread>

#include "common/error.hpp"
#include "results/db/store.hpp"
#include "results/query/format.hpp"
#include "results/query/reader.hpp"
#include "results/query/watchdog.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using testing::TempFolder;

struct Empty {
  TempFolder folder;
  std::filesystem::path path = folder / "a.db";
  Empty() { Store store(path); }
};

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// `count` rows of `bytes` each.
std::string rows_of(int count, int bytes) {
  return "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT " +
         std::to_string(count) + ") SELECT zeroblob(" + std::to_string(bytes) + ") FROM t";
}

TEST_CASE("values, results and the memory of a query have limits, and the message says which") {
  const Empty database;
  Reader reader(database.path);
  const auto complaint = [&](const std::string& sql, const QueryLimits& limits = {}) {
    return message_of([&] { reader.query(sql, limits); });
  };
  CHECK_THAT(complaint("SELECT hex(zeroblob(40000000))"), Contains("a value of more than 64 MiB"));
  CHECK_THAT(complaint("SELECT zeroblob(999999999)"), Contains("a value of more than 64 MiB"));
  CHECK(complaint("SELECT length(zeroblob(60000000))") == "no error");
  CHECK_THAT(complaint(rows_of(400, 20'000), {.bytes = 4 << 20}),
             Contains("the result of the query has more than 4 MiB after 209 rows") &&
                 Contains("csv or json"));
  CHECK(complaint(rows_of(100, 20'000), {.bytes = 4 << 20}) == "no error");
  CHECK_THAT(complaint("WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 100) "
                       "SELECT json_group_array(printf('%.*c', 50000000, 'x')) FROM t"),
             Contains("needs more memory than it may have (1024 MiB"));
}

TEST_CASE("csv and json of a result without end are written row by row") {
  struct Counting : std::streambuf {
    std::streamsize xsputn(const char*, std::streamsize count) override {
      bytes += count;
      return count;
    }
    int overflow(int c) override {
      ++bytes;
      return c == EOF ? 0 : c;
    }
    std::int64_t bytes = 0;
  };
  const Empty database;
  Reader reader(database.path);
  const QueryLimits limits{.bytes = 1 << 20};
  for (const Format format : {Format::kCsv, Format::kSheet, Format::kJson}) {
    Counting counting;
    std::ostream out(&counting);
    CHECK_FALSE(write_query(out, reader, rows_of(300, 10'000), limits, format));
    CHECK(counting.bytes > 300 * 20'000);
  }
  std::ostringstream out;
  CHECK(write_query(out, reader, "SELECT 1 AS x UNION ALL SELECT 2", {.rows = 1}, Format::kJson));
  CHECK(out.str() == "[\n {\"x\":1}\n]\n");
  CHECK_THAT(
      message_of([&] { write_query(out, reader, rows_of(300, 10'000), limits, Format::kTable); }),
      Contains("more than 1 MiB"));
}

TEST_CASE("one long instruction does not outlast the deadline unseen") {
  const Empty database;
  Reader reader(database.path);
  std::atomic<int> overruns = 0;
  const QueryLimits limits{.seconds = 0.05, .on_overrun = [&] { ++overruns; }};
  // Seconds of comparing, in one instruction that nothing interrupts.
  const std::string slow = "SELECT instr(zeroblob(1000000), zeroblob(50000) || x'01')";
  reader.query(slow, limits);
  CHECK(overruns == 1);
}

TEST_CASE("time that a reader of the output takes is not the query's") {
  Watchdog watchdog(0.2, {});
  watchdog.pause();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK_FALSE(watchdog.is_over());
  watchdog.resume();
  CHECK_FALSE(watchdog.is_over());
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  CHECK(watchdog.is_over());
  CHECK_FALSE(Watchdog(0, {}).is_over());
}

TEST_CASE("a name that is not there brings the nearest one") {
  const Empty database;
  Reader reader(database.path);
  const auto complaint = [&](const std::string& sql) {
    return message_of([&] { reader.query(sql); });
  };
  CHECK_THAT(complaint("select * from runs"),
             Contains("no such table: runs; did you mean 'run'?") && Contains("v_accuracy"));
  CHECK_THAT(complaint("select * from v_acuracy"), Contains("did you mean 'v_accuracy'?"));
  CHECK_THAT(complaint("SELECT r.sead FROM RUN r"), Contains("no such column: r.sead") &&
                                                        Contains("did you mean 'seed'?") &&
                                                        Contains("attempt"));
  CHECK_THAT(complaint("SELECT hardwear FROM cell"), Contains("did you mean 'hardware'?"));
  CHECK(complaint("SELECT nosuch") == "SQL: no such column: nosuch");
}

TEST_CASE("a row of damaged JSON is named") {
  const TempFolder folder;
  {
    Store store(folder / "a.db");
    testing::store_run(store, {}, folder / "spools");
  }
  {
    SQLite::Database db((folder / "a.db").string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA ignore_check_constraints = ON; UPDATE hardware SET facts = '{'");
  }
  Reader reader(folder / "a.db");
  CHECK_THAT(message_of([&] { reader.query("SELECT * FROM v_env_diff"); }),
             Contains("malformed JSON: table hardware, row 1: facts is no JSON"));
}

}  // namespace
}  // namespace tersor::results
