// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.hpp"
#include "results/ingest/ingest.hpp"
#include "results/query/format.hpp"
#include "results/query/reader.hpp"
#include "results/query/show.hpp"
#include "results/query/where.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using nlohmann::json;
using testing::FakeRun;
using testing::run_command;
using testing::TempFolder;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Three seeds of four codecs, one diverged run, one infeasible cell, one emulated cell.
struct Sweep {
  TempFolder folder;
  std::filesystem::path path = folder / "a.db";

  Sweep() {
    Store store(path);
    const std::int64_t sweep = store.add_sweep("demo", "{}");
    const double base[] = {0.80, 0.81, 0.83};
    for (const std::uint64_t seed : {1, 2, 3}) {
      FakeRun run;
      run.seed = seed;
      run.accuracy = {0.5, base[seed - 1]};
      run.base_ns = 50'000'000 + static_cast<std::int64_t>(seed) * 1'000'000;
      testing::store_run(store, run, folder / "spools", sweep);
      run.codec = "topk(ratio=0.01)";
      run.accuracy = {0.78, base[seed - 1] - 0.07};
      run.raw_bytes = 131072;
      run.payload_bytes = 2000;
      run.metadata_bytes = 700;
      run.collective = "all_gather";
      run.relative_error = 0.9;
      if (seed == 3) {
        run.status = "diverged";
        run.reason = "loss is not finite at step 12";
      }
      testing::store_run(store, run, folder / "spools", sweep);
    }
    FakeRun shards;
    shards.hardware = "cpu-emulated-tp2";
    shards.kind = "emulated";
    shards.world = 1;
    testing::store_run(store, shards, folder / "spools", sweep);
    FakeRun shaped;
    shaped.hardware = "cpu-tp2-1gbit";
    shaped.kind = "shaped";
    store.add_cell(shaped.cell_key(), shaped.config(), shaped.codecs());
    store.record_unstarted(shaped.cell_key(), 1, sweep,
                           {protocol::Status::kInfeasible, protocol::Cause::kRefused},
                           "needs root");
  }
};

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

TEST_CASE("one view averages over seeds") {
  const Sweep sweep;
  Reader reader(sweep.path);
  // none: 0.80, 0.81, 0.83; scipy.stats.t.interval(0.95, 2, mean, sem).
  const auto rows = reader
                        .query(
                            "SELECT s.n, s.mean, s.sd, s.ci_low, s.split FROM v_seed_mean s "
                            "JOIN cell c ON c.id = s.cell_id WHERE c.codec = 'none' AND c.kind "
                            "= 'measured' AND metric = 'accuracy' AND variant = 'last epoch, "
                            "inference on'")
                        .rows;
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0] == Value(std::int64_t{3}));
  CHECK(std::get<double>(rows[0][1]) == Approx(0.8133333333));
  CHECK(std::get<double>(rows[0][2]) == Approx(0.01527525232));
  CHECK(std::get<double>(rows[0][3]) == Approx(0.8133333333 - 0.0379458));
  CHECK(rows[0][4] == Value(std::string("dev")));
  for (const char* differing :
       {"SELECT 1 FROM v_accuracy a LEFT JOIN v_seed_mean s ON s.cell_id = a.cell_id AND s.metric "
        "= "
        "a.metric AND s.split = a.split AND s.variant = 'last epoch, inference ' || a.inference "
        "WHERE s.mean IS NOT a.mean OR s.sd IS NOT a.sd OR s.ci_high IS NOT a.ci_high",
        "SELECT 1 FROM v_speed v LEFT JOIN v_seed_mean s ON s.cell_id = v.cell_id AND s.metric = "
        "'step_time' WHERE s.mean / 1e6 IS NOT v.step_ms_mean OR s.n IS NOT v.n",
        "SELECT 1 FROM v_by_config b LEFT JOIN v_seed_mean s ON s.cell_id = b.cell_id AND s.metric "
        "= b.metric AND s.variant = b.variant AND s.split = b.split WHERE s.mean IS NOT b.mean"})
    CHECK(reader.query(differing).rows.empty());
}

TEST_CASE("seeds without a value are counted, and not in the mean") {
  const Sweep sweep;
  const auto accuracy = [&](const std::string& undefined) {
    SQLite::Database db(sweep.path.string(), SQLite::OPEN_READWRITE);
    db.exec(
        "UPDATE eval_metric SET value = NULL, nonfinite = 1 WHERE eval_id IN (SELECT e.id FROM "
        "eval e JOIN run r ON r.id = e.run_id JOIN cell c ON c.id = r.cell_id WHERE c.codec = "
        "'none' AND c.kind = 'measured' AND " +
        undefined + ")");
    Reader reader(sweep.path);
    return show(
        reader, "accuracy",
        {"is_primary and inference = 'on' and codec = 'none' and kind = 'measured'", true, {}});
  };
  const QueryResult one = accuracy("r.seed = (SELECT max(seed) FROM run)");
  REQUIRE(one.rows.size() == 1);
  CHECK(one.rows[0][one.column("n")] == Value(std::int64_t{2}));
  CHECK(one.rows[0][one.column("undefined_n")] == Value(std::int64_t{1}));
  CHECK(std::get<double>(one.rows[0][one.column("mean")]) == Approx(0.805));
  const QueryResult all = accuracy("1");
  REQUIRE(all.rows.size() == 1);
  CHECK(all.rows[0][all.column("n")] == Value(std::int64_t{0}));
  CHECK(all.rows[0][all.column("undefined_n")] == Value(std::int64_t{3}));
}

TEST_CASE("views agree with sqlite3 and with each other") {
  const Sweep sweep;
  Reader reader(sweep.path);
  const std::string sql =
      "SELECT codec, kind, metric, variant, n, printf('%.9g', mean), printf('%.9g', sd) FROM "
      "v_by_config ORDER BY 1, 2, 3, 4";
  const auto theirs =
      run_command("sqlite3 -readonly -separator '|' " + sweep.path.string() + " \"" + sql + "\"");
  CHECK(theirs.status == 0);
  std::string ours;
  for (const auto& row : reader.query(sql).rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) ours += '|';
      if (const auto* integer = std::get_if<std::int64_t>(&row[i]))
        ours += std::to_string(*integer);
      if (const auto* text = std::get_if<std::string>(&row[i])) ours += *text;
      if (i + 1 == row.size()) ours += '\n';
    }
  CHECK(ours == theirs.output);
  CHECK_THAT(
      ours, Contains("none|measured|accuracy|last epoch, inference on|3|0.813333333|0.0152752523"));
  CHECK(reader
            .query("SELECT a.mean - b.mean FROM v_accuracy a JOIN v_by_config b ON b.cell_id = "
                   "a.cell_id AND b.metric = a.metric AND b.variant = 'last epoch, inference ' || "
                   "a.inference WHERE abs(a.mean - b.mean) > 0 OR abs(a.sd - b.sd) > 0")
            .rows.empty());
  const QueryResult incomplete =
      reader.query("SELECT status, reason FROM v_incomplete ORDER BY status");
  REQUIRE(incomplete.rows.size() == 2);
  CHECK(incomplete.rows[1][1] == Value(std::string("needs root")));
}

TEST_CASE("the front holds what no other row beats in quality, time and bytes") {
  const TempFolder folder;
  {
    Store store(folder / "a.db");
    const auto add = [&](const std::string& codec, double accuracy, std::int64_t base_ns,
                         std::int64_t bytes) {
      FakeRun run;
      run.codec = codec;
      run.accuracy = {accuracy};
      run.base_ns = base_ns;
      run.payload_bytes = bytes;
      testing::store_run(store, run, folder / "spools");
    };
    add("none", 0.80, 50'000'000, 131072);
    add("cast(format=bf16)", 0.80, 50'000'000, 65536);  // beats none
    add("quantize", 0.79, 60'000'000, 32768);           // fewer bytes than cast
    add("sign", 0.70, 70'000'000, 40000);               // quantize beats it
  }
  Reader reader(folder / "a.db");
  const QueryResult front =
      reader.query("SELECT codec FROM v_pareto WHERE on_front ORDER BY cell_id");
  CHECK(front.rows == std::vector<std::vector<Value>>{{std::string("cast(format=bf16)")},
                                                      {std::string("quantize")}});
}

TEST_CASE("facts that differ inside a group are listed") {
  const TempFolder folder;
  Store store(folder / "a.db");
  for (const char* isa : {"avx2", "avx512"}) {
    FakeRun run;
    run.seed = isa == std::string("avx2") ? 1 : 2;
    store.add_cell(run.cell_key(), run.config(), run.codecs());
    const RunInfo info = store.begin_run(run.cell_key(), run.seed, 0, 0, 0, "box", "");
    for (int rank = 0; rank < 2; ++rank) {
      auto lines = run.records(rank);
      lines[0]["environment"]["isa"] = isa;
      testing::write_lines(folder / isa / ("rank" + std::to_string(rank) + ".jsonl"), lines);
    }
    ingest(store, info.id, folder / isa);
    store.finish_run(info.id, {}, "", 0, "");
  }
  Reader reader(folder / "a.db");
  const QueryResult diff =
      reader.query("SELECT part, fact, value, runs FROM v_env_diff ORDER BY value");
  REQUIRE(diff.rows.size() == 2);
  CHECK(diff.rows[0] == std::vector<Value>{std::string("environment"), std::string("isa"),
                                           std::string("avx2"), std::int64_t{1}});
  CHECK(diff.rows[1][2] == Value(std::string("avx512")));
}

}  // namespace
}  // namespace tersor::results
