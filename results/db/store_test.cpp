// SPDX-License-Identifier: Apache-2.0
#include "results/db/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "results/db/facts.hpp"
#include "results/query/reader.hpp"
#include "results/schema/migrations.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using protocol::Cause;
using protocol::Status;
using testing::FakeRun;
using testing::read_text;
using testing::TempFolder;
using testing::write_text;
namespace fs = std::filesystem;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kDatabase);
    return error.what();
  }
  return "no error";
}

std::int64_t count(const fs::path& db, const std::string& what) {
  Reader reader(db);
  return std::get<std::int64_t>(reader.query("SELECT count(*) FROM " + what).rows.at(0).at(0));
}

TEST_CASE("a run goes from begin to its status, and its attempts are numbered") {
  const TempFolder folder;
  Store store(folder / "a.db");
  FakeRun run;
  store.add_cell(run.cell_key(), run.config(), run.codecs());
  store.add_cell(run.cell_key(), run.config(), run.codecs());
  const std::int64_t sweep = store.add_sweep("demo", "{\"name\": \"demo\"}");
  CHECK(store.add_sweep("demo", "{\"name\": \"demo\"}") == sweep);
  CHECK(store.add_sweep("demo", "{\"name\": \"other\"}") != sweep);
  CHECK_FALSE(store.find_run(run.cell_key(), 1));

  const RunInfo first = store.begin_run(run.cell_key(), 1, sweep, 2, 3, "box", "spools/1");
  CHECK(first.attempt == 1);
  CHECK(first.status == Status::kRunning);
  CHECK(first.spool_dir == "spools/1");
  REQUIRE(store.unfinished_runs().size() == 1);
  store.finish_run(first.id, {Status::kFailed, Cause::kDefect}, "worker died", 139,
                   "Segmentation\xff fault");
  CHECK(store.unfinished_runs().empty());
  CHECK(store.find_run(run.cell_key(), 1)->status == Status::kFailed);
  CHECK(store.find_run(run.cell_key(), 1)->cause == Cause::kDefect);
  CHECK(store.find_run(run.cell_key(), 1)->reason == "worker died");

  const RunInfo second = store.begin_run(run.cell_key(), 1, sweep, 0, 0, "box", "spools/2");
  CHECK(second.attempt == 2);
  store.finish_run(second.id, {}, "", 0, "");
  const RunInfo third = store.begin_run(run.cell_key(), 1, sweep, 0, 0, "box", "spools/3");
  store.finish_run(third.id, {Status::kTimeout, Cause::kTimeLimit}, "60 s", 143, "");
  // A run that is ok decides, whatever was tried after it.
  CHECK(store.find_run(run.cell_key(), 1)->id == second.id);
  CHECK(store.find_run(run.cell_key(), 2) == std::nullopt);
  CHECK(count(folder / "a.db", "cell") == 1);
  CHECK(count(folder / "a.db", "run") == 3);
  CHECK(count(folder / "a.db", "v_latest") == 1);
}

TEST_CASE("64-bit seeds keep all their bits") {
  const TempFolder folder;
  Store store(folder / "a.db");
  FakeRun run;
  run.seed = 0xFFFFFFFFFFFFFFFEULL;
  testing::store_run(store, run, folder / "spools");
  CHECK(store.find_run(run.cell_key(), run.seed)->seed == run.seed);
  Reader reader(folder / "a.db");
  CHECK(reader.query("SELECT seed FROM v_run").rows[0][0] ==
        Value(std::string("18446744073709551614")));
}

TEST_CASE("runs that never started are rows, once") {
  const TempFolder folder;
  Store store(folder / "a.db");
  FakeRun run;
  store.add_cell(run.cell_key(), run.config(), run.codecs());
  const protocol::Verdict refused{Status::kInfeasible, Cause::kRefused};
  const RunInfo a = store.record_unstarted(run.cell_key(), 1, 0, refused, "no root");
  const RunInfo b = store.record_unstarted(run.cell_key(), 1, 0, refused, "no root");
  CHECK(a.id == b.id);
  const RunInfo c = store.record_unstarted(run.cell_key(), 1, 0, refused, "no link");
  CHECK(c.attempt == 2);
  CHECK(count(folder / "a.db", "v_incomplete") == 1);
}

TEST_CASE(
    "a database survives being closed and opened, and a second writer waits or fails clearly") {
  const TempFolder folder;
  FakeRun run;
  {
    Store store(folder / "a.db");
    testing::store_run(store, run, folder / "spools");
  }
  Store again(folder / "a.db");
  CHECK(again.find_run(run.cell_key(), 1)->status == Status::kOk);
  CHECK_THROWS_AS(again.begin_run("nosuchcell", 1, 0, 0, 0, "", ""), Error);
  CHECK_THROWS_AS(again.finish_run(999, {}, "", 0, ""), Error);
}

TEST_CASE("files that are not a results database are refused and left alone") {
  const TempFolder folder;
  const auto refused = [&](const std::string& name, const std::string& text) {
    const fs::path file = folder / name;
    write_text(file, text);
    for (const bool is_writer : {true, false}) {
      const std::string message = message_of([&] {
        if (is_writer)
          Store store(file);
        else
          Reader reader(file);
      });
      CHECK_THAT(message, Contains(name));
      if (is_writer) CHECK(read_text(file) == text);
      if (is_writer) return message;
    }
    return std::string();
  };
  CHECK_THAT(refused("notes.txt", "hello, this is text"), Contains("is not an SQLite database"));
  CHECK_THAT(refused("short.db", "SQLite format 3"), Contains("truncated"));
  CHECK_THAT(message_of([&] { Store store(folder.path()); }), Contains("is a folder"));
  CHECK_THAT(message_of([&] { Store store(folder / "no/where/x.db"); }),
             Contains("there is no folder"));

  const fs::path foreign = folder / "foreign.db";
  {
    SQLite::Database db(foreign.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("CREATE TABLE photos (id INTEGER)");
  }
  const std::string before = read_text(foreign);
  CHECK_THAT(message_of([&] { Store store(foreign); }), Contains("another program"));
  CHECK_THAT(message_of([&] { Reader reader(foreign); }), Contains("another program"));
  CHECK(read_text(foreign) == before);
}

TEST_CASE("a newer schema is refused with both versions") {
  const TempFolder folder;
  const fs::path file = folder / "new.db";
  { Store store(file); }
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA user_version = 99");
  }
  const std::string known = std::to_string(newest_schema_version());
  for (const bool is_writer : {true, false}) {
    const std::string message = message_of([&] {
      if (is_writer)
        Store store(file);
      else
        Reader reader(file);
    });
    CHECK_THAT(message, Contains("schema version 99") && Contains("up to " + known));
  }
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  CHECK(schema_version(db) == 99);
}

TEST_CASE("a read-only file is refused for writing, and read") {
  const TempFolder folder;
  const fs::path file = folder / "ro.db";
  FakeRun run;
  {
    Store store(file);
    testing::store_run(store, run, folder / "spools");
  }
  fs::permissions(file, fs::perms::owner_read | fs::perms::group_read);
  CHECK_THAT(message_of([&] { Store store(file); }), Contains("read-only"));
  CHECK(count(file, "run") == 1);
}

TEST_CASE("a truncated database is an error, not a crash") {
  const TempFolder folder;
  const fs::path file = folder / "cut.db";
  FakeRun run;
  {
    Store store(file);
    testing::store_run(store, run, folder / "spools");
  }
  const std::string whole = read_text(file);
  for (const double share : {0.02, 0.3, 0.7, 0.95}) {
    write_text(file, whole.substr(0, static_cast<std::size_t>(share * double(whole.size()))));
    const std::string message = message_of([&] { Store store(file); });
    INFO("share " << share << ": " << message);
    CHECK_THAT(message, Contains("damaged or truncated"));
    CHECK_THAT(message_of([&] { Reader reader(file); }), Contains("damaged or truncated"));
  }
  write_text(file, whole);
  CHECK(count(file, "run") == 1);
}

TEST_CASE("a file that is missing or empty holds nothing to read") {
  const TempFolder folder;
  try {
    Reader reader(folder / "none.db");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kMissing);
    CHECK_FALSE(fs::exists(folder / "none.db"));
  }
  write_text(folder / "empty.db", "");
  CHECK_THAT(message_of([&] { Reader reader(folder / "empty.db"); }), Contains("is empty"));
  Store store(folder / "empty.db");
  CHECK(count(folder / "empty.db", "metric") > 20);
}

TEST_CASE("what a codec declares for tables is stored anew, and no part of its identity") {
  const TempFolder folder;
  FakeRun run;
  run.codec = "topk";
  {
    Store store(folder / "a.db");
    store.add_cell(run.cell_key(), run.config(), run.codecs());
    store.write([](SQLite::Database& db) {
      db.exec("UPDATE codec SET strength = NULL, stronger = NULL, is_reference = 1");
    });
    store.add_cell(run.cell_key(), run.config(), run.codecs());
  }
  Reader reader(folder / "a.db");
  const auto rows =
      reader.query("SELECT strength, stronger, is_reference FROM codec WHERE name = 'topk'").rows;
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0] == Value(std::string("ratio")));
  CHECK(rows[0][1] == Value(std::string("lower")));
  CHECK(rows[0][2] == Value(std::int64_t{0}));
}

TEST_CASE("the label of a compressor names what is not plain") {
  using nlohmann::ordered_json;
  CHECK(codec_label(ordered_json("cast")) == "cast");
  CHECK(codec_label({{"tp", "none"}, {"tp.backward", "none"}}) == "none");
  CHECK(codec_label({{"tp", "topk"}, {"tp.backward", "quantize(bits=4)"}}) ==
        "topk; tp.backward = quantize(bits=4)");
  CHECK(codec_label({{"tp", "cast"}, {"pp", "cast"}, {"pp.gradient", "sign"}}) ==
        "cast; pp.gradient = sign");
}

}  // namespace
}  // namespace tersor::results
