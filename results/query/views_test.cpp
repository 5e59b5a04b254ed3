// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>

#include "results/ingest/ingest.hpp"
#include "results/query/reader.hpp"
#include "results/query/show.hpp"
#include "results/testing/sweep.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using testing::FakeRun;
using testing::run_command;
using testing::Sweep;
using testing::TempFolder;

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
