// SPDX-License-Identifier: Apache-2.0
#include "results/schema/migrations.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "common/error.hpp"
#include "protocol/fields.hpp"
#include "results/db/database.hpp"
#include "results/db/store.hpp"
#include "results/query/reader.hpp"
#include "results/stats/stats.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using testing::FakeRun;
using testing::read_text;
using testing::run_command;
using testing::TempFolder;
namespace fs = std::filesystem;

const fs::path kRoom = fs::path("results/schema");

/// A database of an old version with one run in it: its text as sqlite3 dumped it.
fs::path stored_file(int version) {
  return kRoom / "stored" / ("version" + std::to_string(version) + ".sql");
}

void restore(const fs::path& file, int version, const fs::path& stored) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(read_text(stored));
  db.exec("PRAGMA user_version = " + std::to_string(version));
  db.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
}

void restore(const fs::path& file, int version) { restore(file, version, stored_file(version)); }

/// The parts of a list of columns, sorted: one that was added to a table stands behind the others.
std::string with_sorted_columns(std::string sql) {
  if (const std::size_t close = sql.rfind(')'); close != std::string::npos) sql[close] = ',';
  std::istringstream text(std::regex_replace(sql, std::regex("\\s+"), " "));
  std::multiset<std::string> parts;
  for (std::string part; std::getline(text, part, ',');) parts.insert(part);
  std::string sorted;
  for (const std::string& part : parts) sorted += part + "\n";
  return sorted;
}

std::string schema_of(const fs::path& file) {
  Reader reader(file);
  std::string text;
  for (const auto& row :
       reader.query("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1, 2")
           .rows)
    text += std::get<std::string>(row[0]) + " " + std::get<std::string>(row[1]) + ": " +
            (row[1] == Value(std::string("cell")) || row[1] == Value(std::string("v_cell_field"))
                 ? with_sorted_columns(std::get<std::string>(row[2]))
                 : std::get<std::string>(row[2])) +
            "\n";
  return text;
}

TEST_CASE("migrations are numbered without a gap and recorded") {
  REQUIRE(newest_schema_version() >= 2);
  for (int version = 1; version <= newest_schema_version(); ++version)
    CHECK(migrations()[static_cast<std::size_t>(version - 1)].version == version);
  const TempFolder folder;
  { const Store store(folder / "a.db"); }
  Reader reader(folder / "a.db");
  const auto rows =
      reader.query("SELECT version, name FROM schema_migration ORDER BY version").rows;
  REQUIRE(static_cast<int>(rows.size()) == newest_schema_version());
  CHECK(rows[0][1] == Value(std::string("base")));
}

TEST_CASE("every migration runs from each old version on a stored database") {
  const TempFolder folder;
  { const Store store(folder / "new.db"); }
  for (int version = 1; version < newest_schema_version(); ++version) {
    INFO("version " << version);
    REQUIRE(fs::exists(stored_file(version)));
    const fs::path file = folder / ("old" + std::to_string(version) + ".db");
    restore(file, version);
    const std::string before = read_text(file);
    {  // Reading migrates a copy.
      Reader reader(file);
      CHECK(reader.query("SELECT codec, status FROM v_run").rows.at(0) ==
            std::vector<Value>{std::string("topk(ratio=0.1)"), std::string("ok")});
      CHECK(reader.query("SELECT mean FROM v_accuracy WHERE is_primary AND inference = 'on'")
                .rows.at(0)
                .at(0) == Value(0.75));
    }
    CHECK(read_text(file) == before);
    { Store store(file); }
    CHECK(schema_of(file) == schema_of(folder / "new.db"));
    Reader reader(file);
    CHECK(reader.query("SELECT count(*) FROM run").rows[0][0] == Value(std::int64_t{1}));
    CHECK(reader.query("SELECT count(*), sum(message_relative_l2) FROM message_error").rows[0] ==
          std::vector<Value>{std::int64_t{2}, 1.0});
    CHECK(reader.query("PRAGMA user_version").rows[0][0] ==
          Value(std::int64_t{newest_schema_version()}));
    CHECK_THAT(run_command("sqlite3 " + file.string() +
                           " 'PRAGMA integrity_check; PRAGMA foreign_key_check'")
                   .output,
               Catch::Equals("ok\n"));
  }
}

TEST_CASE("quantiles of Student's t in the file are the program's") {
  const TempFolder folder;
  { const Store store(folder / "a.db"); }
  const auto rows =
      Reader(folder / "a.db").query("SELECT df, t975 FROM student_t ORDER BY df").rows;
  REQUIRE(rows.size() == 1000);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i][0] == Value(static_cast<std::int64_t>(i + 1)));
    CHECK(rows[i][1] == Value(student_t_quantile(0.975, static_cast<double>(i + 1))));
  }
}

TEST_CASE("runs that were stored before there were causes get theirs") {
  const TempFolder folder;
  const fs::path file = folder / "old.db";
  restore(file, 4, kRoom / "stored" / "causes4.sql");
  { const Store store(file); }
  Reader reader(file);
  std::vector<std::string> causes;
  for (const auto& row : reader.query("SELECT status || ' ' || cause FROM run ORDER BY seed").rows)
    causes.push_back(std::get<std::string>(row[0]));
  CHECK(causes == std::vector<std::string>{"failed defect",        // killed by signal 6 (Aborted)
                                           "diverged non_finite",  //
                                           "oom out_of_memory_host",  //
                                           "failed defect",           // its spool has no end record
                                           "failed defect",           // its spool is no JSON
                                           "failed unknown",          // a tensor is missing
                                           "ok none",                 //
                                           "failed killed",           // signal 9
                                           "failed interrupted",      // by SIGINT
                                           "failed interrupted",      // the harness died
                                           "timeout time_limit",      //
                                           "timeout stalled",         //
                                           "failed unknown",          // a tensor is missing
                                           "skipped fail_fast",       //
                                           "infeasible refused",      //
                                           "failed system",  // the worker could not be executed
                                           "failed interrupted",  // SIGTERM to a rank
                                           "failed lost_peer",    // all-reduce failed: timed out
                                           "running none"});
  CHECK(reader
            .query("SELECT count(*), count(cause), sum(cause = 'lost_peer'), "
                   "sum(cause = 'interrupted') FROM process")
            .rows[0] ==
        std::vector<Value>{std::int64_t{28}, std::int64_t{21}, std::int64_t{1}, std::int64_t{10}});
  CHECK(reader.query("SELECT count(*) FROM v_incomplete WHERE cause = 'interrupted'").rows[0][0] ==
        Value(std::int64_t{3}));
}

TEST_CASE("the schema takes every cause of the protocol and no other") {
  const TempFolder folder;
  const fs::path file = folder / "old.db";
  restore(file, 4, kRoom / "stored" / "causes4.sql");
  { const Store store(file); }
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  for (const std::string table : {"run", "process"}) {
    const auto set = [&](const std::string& cause) {
      db.exec("UPDATE " + table + " SET cause = '" + cause + "'");
    };
    for (const std::string_view cause : protocol::cause_names())
      CHECK_NOTHROW(set(std::string(cause)));
    CHECK_THROWS_WITH(set("bad luck"), Contains("CHECK"));
  }
}

TEST_CASE("a migration that fails leaves the file as it was") {
  const TempFolder folder;
  const fs::path file = folder / "a.db";
  restore(file, 1);
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("CREATE TABLE student_t (x)");  // stands in the way of step 2
  }
  const auto dump = [&] { return run_command("sqlite3 " + file.string() + " .dump").output; };
  const std::string before = dump();
  CHECK_THROWS_AS(Store(file), Error);
  CHECK(dump() == before);
}

TEST_CASE("the cells of a database of version 4 get the keys that tersor makes today") {
  const TempFolder folder;
  const fs::path file = folder / "a.db";
  restore(file, 4, kRoom / "stored" / "version4_run.sql");
  { const Store store(file); }
  Reader reader(file);
  std::vector<std::vector<std::string>> found;
  for (const auto& row :
       reader.query("SELECT codec, hardware, former_key, cell_key FROM cell ORDER BY id").rows) {
    found.emplace_back();
    for (const Value& value : row) found.back().push_back(std::get<std::string>(value));
  }
  // A key that changes here makes every user repeat every run.
  CHECK(found ==
        std::vector<std::vector<std::string>>{
            {"none; pp = topk", "cpu-tp1", "fb303c2b654af6b6", "f08139e7533e3f8f"},
            {"none", "cpu-emulated-tp2", "3b17c09c848cc929", "926f18386f8487ce"},
            {"topk(ratio=0.1)", "cpu-emulated-tp2", "40a852899b1cfcbd", "8d40c70a13f4a134"},
            {"ef(quantize(bits=4))", "cpu-emulated-tp2", "a989916149dac980", "77652fadc605d4c7"},
            {"topk(k=6400)", "cpu-emulated-tp2", "dbbb0bb2bc8dd81d", "b8e7c9a5c3a80363"},
            {"hierarchical(cast,ef(topk(ratio=0.05)))", "cpu-emulated-tp4-nodes2",
             "a2a42bef5f29e354", "75a31b8c82829ec0"},
            {"gate(cast); tp.backward = quantize", "cpu-tp2", "6c5807146fd26e08",
             "858a8d2a54c35988"}});
  CHECK(reader
            .query("SELECT DISTINCT nodes, compressor_pp, tp FROM cell WHERE hardware = "
                   "'cpu-emulated-tp4-nodes2'")
            .rows.at(0) ==
        std::vector<Value>{std::int64_t{2}, std::string("none"), std::int64_t{4}});
  CHECK(reader.query("SELECT count(DISTINCT cell_key) FROM v_run WHERE status = 'ok'").rows[0][0] ==
        Value(std::int64_t{6}));
}

TEST_CASE("no view has two columns of one name") {
  const TempFolder folder;
  { const Store store(folder / "a.db"); }
  Reader reader(folder / "a.db");
  CHECK(reader
            .query("SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE "
                   "m.type = 'view' AND c.name LIKE '%:%'")
            .rows.empty());
}

/// Column names of the tables of docs/results-schema.md by heading; a section that says "Axes and:"
/// has those too.
std::map<std::string, std::vector<std::string>> documented(
    std::map<std::string, std::string>& types) {
  std::istringstream page(read_text(kRoom / "../../docs/results-schema.md"));
  const std::regex heading("### (\\w+)");
  const std::regex row("\\| `(\\w+)` \\| ([^|]*?) *\\|.*");
  std::map<std::string, std::vector<std::string>> sections;
  // What v_cell_field has, and the columns that begin the views.
  std::vector<std::string> axes{"codec", "hardware", "kind", "dataset", "model", "stage", "layers"};
  std::vector<std::string> others{"cell_key", "group_hash", "cell_id"};
  for (const protocol::Field& field : protocol::fields())
    if (field.column != "inference" &&
        std::find(axes.begin(), axes.end(), field.column) == axes.end())
      others.push_back(field.column);
  axes.insert(axes.end(), others.begin(), others.end());
  std::string name;
  bool is_in_views = false;
  for (std::string line; std::getline(page, line);) {
    std::smatch match;
    if (line == "## Views") is_in_views = true;
    if (std::regex_match(line, match, heading)) {
      name = match[1];
      sections[name];
    } else if (std::regex_match(line, match, row)) {
      sections[name].push_back(match[1]);
      if (!is_in_views) types[name + "." + match[1].str()] = match[2];
    }
    if (line == "## Views") name.clear();
    if (line.ends_with("Axes and:")) sections[name] = axes;
    if (line == "The fields of a cell, and:") {
      for (const protocol::Field& field : protocol::fields()) {
        sections[name].push_back(field.column);
        types[name + "." + field.column] = field.type == protocol::FieldType::kText   ? "TEXT"
                                           : field.type == protocol::FieldType::kReal ? "REAL"
                                                                                      : "INTEGER";
      }
    }
    if (line.starts_with("What ends the other views")) sections[name] = others;
    if (line.starts_with("`v_run` of the deciding runs")) sections[name] = sections["v_run"];
  }
  return sections;
}

TEST_CASE("the page on the schema names every table, column and type, and nothing else") {
  const TempFolder folder;
  { const Store store(folder / "a.db"); }
  Reader reader(folder / "a.db");
  std::map<std::string, std::string> types;
  const auto page = documented(types);
  std::set<std::string> names;
  for (const auto& row :
       reader
           .query("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name "
                  "NOT LIKE 'sqlite_%'")
           .rows) {
    const std::string name = std::get<std::string>(row[0]);
    INFO(name);
    names.insert(name);
    REQUIRE(page.contains(name));
    std::set<std::string> real;
    for (const auto& column :
         reader.query("SELECT name, type FROM pragma_table_xinfo(?1)", {}, {Value(name)}).rows) {
      const std::string column_name = std::get<std::string>(column[0]);
      INFO(column_name);
      real.insert(column_name);
      if (row[1] == Value(std::string("table")))
        CHECK(types[name + "." + column_name] == std::get<std::string>(column[1]));
    }
    CHECK(std::set<std::string>(page.at(name).begin(), page.at(name).end()) == real);
  }
  for (const auto& [name, columns] : page) {
    INFO(name);
    CHECK(names.contains(name));
  }
  CHECK_THAT(read_text(kRoom / "../../docs/results-schema.md"),
             Contains("version (now " + std::to_string(newest_schema_version()) + ")"));
}

TEST_CASE("codecs that are stored get their strength and the reference its mark") {
  const TempFolder folder;
  const fs::path file = folder / "old.db";
  restore(file, 7);
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    const auto add = [&](const char* spec, const char* params) {
      db.exec(
          "INSERT INTO codec (hash, name, version, variant, spec, params, properties) VALUES ('" +
          std::string(spec) + "', 'x', '1', 'corrected', '" + spec + "', '" + params + "', '{}')");
    };
    add("x1", R"({"ratio": 0.01, "k": null})");
    add("x2", R"({"ratio": 0.01, "k": 5})");
    add("x3", R"({"bits": 4, "format": "int"})");
    add("x4", R"({"format": "e4m3"})");
    add("x5", R"({"codec": "none"})");
    add("x6", R"({"rank": 4})");
    db.exec("UPDATE codec SET spec = 'cast' WHERE hash = 'x4'");
    db.exec("UPDATE measurement SET n = 9, ci_low = 1, ci_high = 2 WHERE id = 1");
    db.exec("UPDATE measurement SET n = 10, ci_low = 1, ci_high = 2 WHERE id = 2");
    migrate(db);
    const auto text = [&](const std::string& sql) {
      const auto found = db.execAndGet(sql);
      return found.isNull() ? std::string("NULL") : found.getString();
    };
    const std::map<std::string, std::string> right{{"x1", "ratio lower 0"}, {"x2", "k lower 0"},
                                                   {"x3", "bits lower 0"},  {"x4", "format - 1"},
                                                   {"x5", "- - 0"},         {"x6", "rank lower 0"}};
    for (const auto& [hash, shown] : right)
      CHECK(text("SELECT coalesce(strength, '-') || ' ' || coalesce(stronger, '-') || ' ' || "
                 "is_reference FROM codec WHERE hash = '" +
                 hash + "'") == shown);
    CHECK(text("SELECT ci_low FROM measurement WHERE id = 1") == "NULL");
    CHECK(text("SELECT ci_high FROM measurement WHERE id = 2") == "2.0");
  }
}

TEST_CASE("write the stored database of the version before the newest", "[.store]") {
  // The one of the version before it, brought up to date.
  const TempFolder folder;
  const fs::path file = folder / "old.db";
  const int version = newest_schema_version() - 1;
  restore(file, version - 1);
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    migrate(db, version);
  }
  run_command("sqlite3 " + file.string() + " .dump > " + stored_file(version).string());
}

}  // namespace
}  // namespace tersor::results
