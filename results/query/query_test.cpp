// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>

#include "common/error.hpp"
#include "results/query/format.hpp"
#include "results/query/reader.hpp"
#include "results/query/show.hpp"
#include "results/query/where.hpp"
#include "results/testing/spools.hpp"
#include "results/testing/sweep.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using testing::FakeRun;
using testing::Sweep;
using testing::TempFolder;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("a query reads, and only reads") {
  const Sweep sweep;
  const std::string before = testing::read_text(sweep.path);
  Reader reader(sweep.path);
  CHECK(reader.query("SELECT count(*) AS n FROM run").rows[0][0] == Value(std::int64_t{8}));
  CHECK(reader
            .query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) "
                   "SELECT max(i) FROM n")
            .rows[0][0] == Value(std::int64_t{5}));
  CHECK(reader.query("PRAGMA user_version").rows.size() == 1);
  CHECK(reader.query("PRAGMA table_info(run)").rows.size() > 20);
  CHECK(reader.query("SELECT count(*) FROM run; -- and no more\n ").rows.size() == 1);
  CHECK(reader.query("EXPLAIN QUERY PLAN SELECT * FROM v_run").rows.size() > 1);
  for (const std::string sql :
       {"DELETE FROM run", "UPDATE run SET seed = 1", "INSERT INTO student_t VALUES (7777, 1)",
        "DROP TABLE run", "UPDATE sqlite_master SET sql = ''", "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)", "ATTACH ':memory:' AS m", "PRAGMA user_version = 3",
        "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1", "VACUUM",
        "VACUUM INTO '/tmp/tersor-stolen.db'", "BEGIN", "REINDEX", "ANALYZE",
        "SELECT load_extension('x')", "WITH a AS (SELECT 1) DELETE FROM run"}) {
    INFO(sql);
    CHECK_THAT(message_of([&] { reader.query(sql); }),
               Contains("refused") || Contains("may not be modified"));
  }
  CHECK_THAT(message_of([&] { reader.query("SELECT 1; SELECT 2"); }), Contains("one statement"));
  CHECK_THAT(message_of([&] { reader.query("SELECT 1; DELETE FROM run"); }),
             Contains("one statement"));
  CHECK_THAT(message_of([&] { reader.query(" ; "); }), Contains("empty"));
  CHECK_THAT(message_of([&] { reader.query("SELEC 1"); }), Contains("syntax error"));
  CHECK_THAT(message_of([&] { reader.query("SELECT nosuch FROM run"); }),
             Contains("no such column"));
  CHECK(testing::read_text(sweep.path) == before);
}

TEST_CASE("rows are capped and time is limited") {
  const Sweep sweep;
  Reader reader(sweep.path);
  const QueryResult three = reader.query("SELECT id FROM run", {3, 0});
  CHECK(three.rows.size() == 3);
  CHECK(three.is_cut);
  CHECK_FALSE(reader.query("SELECT id FROM run LIMIT 3", {3, 0}).is_cut);
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THAT(message_of([&] {
               reader.query(
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                   "SELECT sum(i) FROM n",
                   {10, 0.2});
             }),
             Contains("stopped after 0.2 s") && Contains("--timeout"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(reader.query("SELECT 1").rows.size() == 1);
}

TEST_CASE("a reader sees one snapshot, whatever is written meanwhile") {
  const TempFolder folder;
  Store store(folder / "a.db");
  FakeRun run;
  testing::store_run(store, run, folder / "spools");
  Reader reader(folder / "a.db");
  const auto count = [](Reader& of) { return of.query("SELECT count(*) FROM run").rows[0][0]; };
  CHECK(count(reader) == Value(std::int64_t{1}));
  run.seed = 2;
  testing::store_run(store, run, folder / "spools");
  CHECK(count(reader) == Value(std::int64_t{1}));
  Reader later(folder / "a.db");
  CHECK(count(later) == Value(std::int64_t{2}));
}

TEST_CASE("one expression passes, anything else is refused with its column") {
  const std::vector<std::string> columns{"dataset", "codec", "n", "mean", "reason"};
  const auto check = [&](const std::string& text) {
    return message_of([&] { check_expression(text, columns); });
  };
  for (const std::string good :
       {"dataset='sst2' and codec like 'topk%'", "n > 1", "mean BETWEEN 0.1 AND 0.9",
        "codec IN ('none', 'cast')", "reason = 'it''s; SELECT -- fine'", "\"codec\" = 'none'",
        "[codec] = 'none'", "replace(codec, 'a', 'b') = 'x'", "CASE WHEN n > 1 THEN 1 ELSE 0 END",
        "(((n)))", "mean - -1 > 0", "codec GLOB '*'", "n > 1 -- x", "n /* x */ > 1",
        "n > 1) OR (n < 0"}) {
    INFO(good);
    CHECK(check(good) == "no error");
  }
  for (const auto& [bad, part] : std::vector<std::pair<std::string, std::string>>{
           {"1); DELETE FROM run; --", "column 3: ';' ends a statement"},
           {"1; DROP TABLE run", "column 2: near \";\": syntax error"},
           {"n IN (SELECT 1)", "a SELECT of its own"},
           {"1) UNION SELECT 1, 2 FROM run WHERE (1", "column"},
           {"1) UNION SELECT 1 AS value /*", "a SELECT of its own"},
           {"1 UNION VALUES(1)", "column 3: near \"UNION\": syntax error"},
           {"EXISTS (VALUES (1))", "a SELECT of its own"},
           {"1) FROM shown WHERE (1", "column"},
           {"1) FROM shown /*", "near \"FROM\""},
           {"1) /*", "more than one expression"},
           {"1) GROUP BY (codec", "column"},
           {"1) LIMIT (1", "column"},
           {"1, 2", "column"},
           {"1), (2", "column 3: near \",\""},
           {"n > ?1", "parameter"},
           {"n > :x", "parameter"},
           {"codec = 'none", "column 9: the text after ' has no end"},
           {"codec = \"none", "column 9: the text after \" has no end"},
           {"(n > 1", "column 7: ends too early"},
           {"n > 1 ORDER BY n", "column 7: near \"ORDER\": syntax error"},
           {"n > 1 LIMIT 1", "\"LIMIT\""},
           {"sum(n) > 1", "aggregate"},
           {"sum(n) OVER () > 1", "window function"},
           {"nosuch(n)", "no such function: nosuch"},
           {"codek = 'x'", "column 1: no such column: codek; quote text as '...'; columns: data"},
           {"", "is empty"},
           {"   ", "is empty"},
           {std::string("n\0", 2), "column 2: a NUL byte"}}) {
    INFO(bad);
    CHECK_THAT(check(bad), Contains(part) && Contains("give one SQL expression"));
  }
}

TEST_CASE("show lists runs, and groups the rest by everything but the seed") {
  const Sweep sweep;
  Reader reader(sweep.path);
  const QueryResult runs = show(reader, "runs", {});
  CHECK(runs.rows.size() == 8);
  CHECK(runs.rows[5][runs.column("status")] == Value(std::string("diverged")));
  CHECK(runs.rows[5][runs.column("reason")] == Value(std::string("loss is not finite at step 12")));

  const QueryResult accuracy =
      show(reader, "accuracy", {"is_primary and inference = 'on' and kind = 'measured'", true, {}});
  REQUIRE(accuracy.rows.size() == 2);
  const auto number = [](const QueryResult& r, std::size_t row, const std::string& column) {
    const Value& value = r.rows[row][r.column(column)];
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return double(*integer);
    return std::get<double>(value);
  };
  // none: 0.80, 0.81, 0.83. scipy.stats.t.interval(0.95, 2, mean, sem).
  CHECK(accuracy.rows[0][accuracy.column("codec")] == Value(std::string("none")));
  CHECK(number(accuracy, 0, "mean") == Approx(0.8133333333));
  CHECK(number(accuracy, 0, "sd") == Approx(0.01527525232));
  CHECK(number(accuracy, 0, "n") == 3);
  CHECK(number(accuracy, 0, "ci_low") == Approx(0.8133333333 - 0.0379458));
  CHECK(number(accuracy, 0, "ci_high") == Approx(0.8133333333 + 0.0379458));
  CHECK(number(accuracy, 0, "best_mean") == Approx(0.8133333333));
  // topk: the diverged seed is not averaged, and is counted; 0.78 of epoch 1 is the best.
  CHECK(number(accuracy, 1, "mean") == Approx(0.735));
  CHECK(number(accuracy, 1, "n") == 2);
  CHECK(number(accuracy, 1, "diverged_n") == 1);
  CHECK(number(accuracy, 1, "best_mean") == Approx(0.78));

  const QueryResult speed = show(reader, "speed", {"", true, {}});
  REQUIRE(speed.rows.size() == 3);
  // Medians of the slower rank: 54, 55, 56 ms.
  const std::size_t none =
      speed.rows[1][speed.column("codec")] == Value(std::string("none")) ? 1 : 0;
  CHECK(number(speed, none, "step_ms_mean") == Approx(55));
  CHECK(number(speed, none, "step_ms_sd") == Approx(1));
  CHECK(number(speed, none, "encode_ms_mean") == Approx(1));
  CHECK(number(speed, none, "samples_per_second") == Approx(32 / 0.055));
  CHECK(number(speed, none, "tokens_per_second") == Approx(32 * 32 / 0.055));
  for (const auto& row : speed.rows)
    CHECK((row[speed.column("kind")] == Value(std::string("emulated"))) ==
          is_null(row[speed.column("tokens_per_second")]));

  const QueryResult traffic =
      show(reader, "traffic", {"codec like 'topk%' and phase = 'train' and site = 'tp'", true, {}});
  REQUIRE(traffic.rows.size() == 1);
  CHECK(number(traffic, 0, "payload_bytes_per_call_mean") == 2000);
  CHECK(number(traffic, 0, "metadata_bytes_per_call_mean") == 700);
  CHECK(number(traffic, 0, "payload_bytes_per_call_sd") == 0);
  CHECK(number(traffic, 0, "ratio") == Approx(65.536));
  CHECK(number(traffic, 0, "sent_bytes_per_step_mean") == 2000);
  CHECK(number(traffic, 0, "calls_per_rank") == 20);
  CHECK(number(traffic, 0, "n") == 2);
}

TEST_CASE("show is short for people, and says which columns there are") {
  const Sweep sweep;
  Reader reader(sweep.path);
  const QueryResult runs = show(reader, "runs", {"", false, {}});
  CHECK(runs.columns.front() == "run_id");
  // Only `epochs` differs between these cells; the other quiet axes do not show.
  CHECK(runs.columns == std::vector<std::string>{"run_id", "codec", "hardware", "kind", "dataset",
                                                 "model", "epochs", "layers", "seed", "attempt",
                                                 "status", "cause", "reason", "steps", "wall_s",
                                                 "started_at"});
  CHECK_THAT(message_of([&] { show(reader, "acuracy", {}); }), Contains("did you mean 'accuracy'"));
  CHECK_THAT(message_of([&] {
               show(reader, "runs", {"codek = 'x'", true, {}});
             }),
             Contains("no such column: codek") && Contains("cell_key"));
  CHECK_THAT(message_of([&] {
               show(reader, "runs", {"dataset = \"sst2\"", true, {}});
             }),
             Contains("no such column: sst2") && Contains("quote text as '...'"));
  CHECK_THAT(message_of([&] {
               show(reader, "runs", {"1); DELETE FROM run; --", true, {}});
             }),
             Contains("column 3: ';' ends a statement"));
}

}  // namespace
}  // namespace tersor::results
