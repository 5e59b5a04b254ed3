// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.hpp"
#include "reports/engine/registry.hpp"
#include "reports/testing/sample_report.hpp"

namespace tersor::reports {
namespace {

using Catch::Contains;
using nlohmann::json;
using results::Store;
using results::testing::read_text;
using results::testing::TempFolder;
using testing::fill_sample;
using testing::kRaw;
using testing::SampleReport;
namespace fs = std::filesystem;

TEST_CASE("a report is one page, one Markdown file, and numbers") {
  const SampleReport report;
  for (const char* name :
       {"index.html", "report.md", "accuracy.csv", "differences.csv", "time.csv", "breakdown.csv",
        "bytes.csv", "error.csv", "cost.csv", "runs.csv", "accuracy_bytes_1.vl.json"})
    CHECK(fs::file_size(report.out / name) > 0);
  const std::string page = report.text("index.html");
  // Self-contained, and what comes from outside is escaped.
  for (const char* fetched : {"<script", "<link", "src=", "@import", "url(", "<iframe"})
    CHECK_THAT(page, !Contains(fetched));
  CHECK_THAT(page, Contains("<title>Sample &amp; &lt;title&gt;</title>"));
  CHECK_THAT(page, Contains("worker of rank 1 died: signal 9 &lt;kill&gt;") && !Contains("<kill>"));
  CHECK_THAT(page, Contains("infeasible: network namespaces need root"));
  CHECK_THAT(report.text("report.md"),
             Contains("| `topk(ratio=0.01)` | 73.5 \xc2\xb1 0.5 (n = 3) |"));
}

TEST_CASE("the same database gives the same files") {
  const testing::Environment no_drawing("TERSOR_PYTHON", "/bin/false");
  const SampleReport report;
  const fs::path again = report.folder / "again/report";
  write_report({report.db, again, "Sample & <title>"});
  for (const std::string& name : report.result.files)
    CHECK(read_text(again / name) == report.text(name));
}

TEST_CASE("the database is only read") {
  const testing::Environment no_drawing("TERSOR_PYTHON", "/bin/false");
  const SampleReport report;
  const std::string before = read_text(report.db);
  write_report({report.db, report.folder / "other", "x"});
  CHECK(read_text(report.db) == before);
}

TEST_CASE("figures carry their data, and are drawn where vl-convert is") {
  const SampleReport report(fill_sample, nullptr);
  const json spec = json::parse(report.text("accuracy_bytes_1.vl.json"));
  const json& points = spec.at("datasets").at("points");
  REQUIRE(points.size() == 8);
  CHECK(points[0].at("label") == "none");
  CHECK(points[1].at("label") == "cast(format=bf16)");
  CHECK(points[1].at("bytes") == kRaw / 2);
  CHECK(points[0].at("value").get<double>() == Approx(100 * (0.8131 + 0.8062 + 0.7982) / 3));
  for (const json& point : points) CHECK(point.at("low") < point.at("value"));
  const bool is_drawn = fs::exists(report.out / "accuracy_bytes_1.svg");
  CHECK(is_drawn == report.result.notices.empty());
  if (is_drawn) {
    CHECK_THAT(report.text("index.html"), Contains("<svg") && Contains(">topk(ratio=0.01)</text>"));
    CHECK_THAT(report.text("report.md"), Contains("](accuracy_bytes_1.svg)"));
  } else {
    WARN("figures were not drawn: " << report.result.notices.front());
  }
}

TEST_CASE("without vl-convert the report comes with a notice and the figures' files") {
  for (const char* python : {"/nowhere/python3", "/bin/false", "/bin/true", "/bin/cat"}) {
    INFO(python);
    const SampleReport report(fill_sample, python);
    REQUIRE(report.result.notices.size() == 1);
    CHECK_THAT(report.result.notices[0],
               Contains("figures are not drawn") && Contains("scripts/setup"));
    CHECK_THAT(report.text("index.html"),
               Contains("accuracy_bytes_1.vl.json") && Contains("not drawn"));
    CHECK_FALSE(fs::exists(report.out / "accuracy_bytes_1.svg"));
    CHECK(json::parse(report.text("accuracy_bytes_1.vl.json")).contains("layer"));
  }
}

TEST_CASE("a database without runs gives a page that says so") {
  const SampleReport report([](const fs::path& path, const fs::path&) { Store store(path); });
  CHECK_THAT(report.text("index.html"), Contains("The database holds no run."));
}

TEST_CASE("bad places are errors that name them") {
  const SampleReport report;
  const auto message = [](const ReportOptions& options) {
    try {
      write_report(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message({report.folder / "none.db", report.out, "x"}), Contains("no such file"));
  CHECK_THAT(message({report.db, report.db, "x"}), Contains("is a file; --out names a folder"));
  CHECK_THAT(message({report.db, report.db / "below", "x"}), Contains("cannot be made"));
}

TEST_CASE("control characters and backticks of data are shown, not obeyed") {
  const std::string bad = "x\x1b[2J \xc2\x9b \u202e`\n\n<script>`|` <img>";
  const SampleReport report([&](const fs::path& path, const fs::path& spools) {
    Store store(path);
    results::testing::FakeRun run;
    results::testing::store_run(store, run, spools);
    run.codec = "quantize";
    results::testing::store_run(store, run, spools);
    run.codec = "topk";
    run.status = "failed";
    run.reason = bad;
    results::testing::store_run(store, run, spools);
    store.write([&](SQLite::Database& db) {
      SQLite::Statement change(db, "UPDATE cell SET codec = ?1 WHERE codec = 'quantize'");
      change.bind(1, bad);
      change.exec();
      db.exec("UPDATE dataset SET best_accuracy = 0.9, name = '`a`|<b>' || char(155)");
    });
  });
  for (const char* name : {"index.html", "report.md", "accuracy_bytes_1.vl.json"}) {
    const std::string text = report.text(name);
    INFO(name);
    for (const char* raw : {"\x1b", "\xc2\x9b", "\u202e"}) CHECK_THAT(text, !Contains(raw));
    CHECK_THAT(text, Contains("x1b[2J") || Contains("x1b\\[2J"));
  }
  CHECK_THAT(report.text("index.html"), !Contains("<script") && !Contains("<img"));
  // In Markdown a tag is either escaped or inside a code span on its own line.
  std::istringstream lines(report.text("report.md"));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    bool is_code = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '`' && (i == 0 || line[i - 1] != '\\')) is_code = !is_code;
      if (line[i] == '<' && !is_code) CHECK((i > 0 && line[i - 1] == '\\'));
    }
    CHECK_FALSE(is_code);
    CHECK_THAT(line, !Contains("``"));
  }
}

/// Sets one column of every row, whatever its constraints say.
void damage(const fs::path& path, const std::string& table, const std::string& column,
            const std::string& value) {
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
  db.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
  db.exec("UPDATE " + table + " SET " + column + " = " + value);
}

std::string report_error(const fs::path& path, const fs::path& out) {
  try {
    write_report({path, out, "x"});
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kDatabase);
    return error.what();
  }
  return "";
}

TEST_CASE("damaged JSON is refused with its table and row") {
  const testing::Environment no_drawing("TERSOR_PYTHON", "/bin/false");
  const TempFolder folder;
  fill_sample(folder / "whole.db", folder / "spools");
  struct Damage {
    const char *table, *column, *value;
  };
  // SQLite computes columns of a cell from its config, so it takes no text there that is no JSON.
  for (const auto& [table, column, value] :
       {Damage{"cell", "config", "'[1]'"}, Damage{"codec", "params", "'{'"},
        Damage{"environment", "facts", "'{'"}, Damage{"hardware", "facts", "''"},
        Damage{"code", "facts", "'[1'"}}) {
    INFO(table << " " << column << " " << value);
    fs::copy_file(folder / "whole.db", folder / "a.db", fs::copy_options::overwrite_existing);
    damage(folder / "a.db", table, column, value);
    CHECK_THAT(
        report_error(folder / "a.db", folder / "out"),
        Contains(std::string("table ") + table + ", row 1: " + column + " is no JSON object"));
  }
}

TEST_CASE("no contents of a database are an internal error of the report", "[.nightly]") {
  const testing::Environment no_drawing("TERSOR_PYTHON", "/bin/false");
  const TempFolder folder;
  const fs::path whole = folder / "whole.db";
  {
    Store store(whole);
    results::testing::FakeRun run;
    results::testing::store_run(store, run, folder / "spools");
    run.codec = "quantize";
    run.collective = "all_gather";
    run.samples_gradients = true;
    results::testing::store_run(store, run, folder / "spools");
  }
  std::vector<std::pair<std::string, std::string>> columns;
  {
    const SQLite::Database db(whole.string());
    SQLite::Statement list(db,
                           "SELECT t.name, c.name FROM pragma_table_list t, "
                           "pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND t.schema = "
                           "'main' AND t.name NOT LIKE 'sqlite_%' AND c.hidden = 0 AND c.pk = 0");
    while (list.executeStep())
      columns.emplace_back(list.getColumn(0).getString(), list.getColumn(1).getString());
  }
  REQUIRE(columns.size() > 100);
  for (const auto& [table, column] : columns)
    for (const char* value : {"NULL", "'[' || char(155)", "-1", "9223372036854775807", "9e999"}) {
      INFO(table << "." << column << " = " << value);
      fs::copy_file(whole, folder / "a.db", fs::copy_options::overwrite_existing);
      try {
        damage(folder / "a.db", table, column, value);
      } catch (const SQLite::Exception&) {
        continue;  // not of the column's type, NOT NULL, or not unique
      }
      CHECK_NOTHROW(report_error(folder / "a.db", folder / "out"));
    }
}

TEST_CASE("every folder of tables and figures is one item, with query and README") {
  const fs::path room = fs::path("reports");
  std::vector<std::string> folders;
  for (const char* kind : {"tables", "figures"})
    for (const auto& entry : fs::directory_iterator(room / kind)) {
      if (!entry.is_directory()) continue;
      folders.push_back(entry.path().filename());
      INFO(entry.path());
      CHECK(fs::exists(entry.path() / "README.md"));
    }
  std::vector<std::string> names;
  for (const Item& item : items()) names.push_back(item.name);
  std::sort(folders.begin(), folders.end());
  std::sort(names.begin(), names.end());
  CHECK(names == folders);
}

TEST_CASE("write a sample report", "[.sample]") {
  const char* out = std::getenv("TERSOR_SAMPLE_OUT");
  REQUIRE(out);
  const TempFolder folder;
  fill_sample(folder / "sst2.db", folder / "spools");
  for (const std::string& notice :
       write_report({folder / "sst2.db", out, "SST-2, MiniLM, TP 2"}).notices)
    WARN(notice);
}

}  // namespace
}  // namespace tersor::reports
