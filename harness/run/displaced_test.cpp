// SPDX-License-Identifier: Apache-2.0
// A sweep whose files somebody moves, removes, replaces or has put there before.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/testing/program.hpp"

using Catch::Contains;
using tersor::harness::testing::run_program;
using tersor::harness::testing::Workplace;
namespace fs = std::filesystem;

namespace {

using Rows = std::vector<std::string>;
constexpr const char* kRuns = "SELECT seed, attempt, status FROM run ORDER BY seed, attempt";

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A sweep of three runs whose second waits until it is let go on.
class Sweep {
 public:
  explicit Sweep(const Workplace& place) : place_(place) {
    place.write_matrix("1, 2, 3");
    pid_ = place.start("2=gate", {}, {{"TERSOR_FAKE_GATE", place.path("gate").string()}});
    Workplace::wait_for(
        [&] {
          return text_of(place.path("log")).find("[1/3]  ok") != std::string::npos &&
                 has_begun("rank0.jsonl") && has_begun("rank1.jsonl");
        },
        "the second run");
  }
  /// Lets it go on; its exit status.
  int finish() {
    place_.write("gate", "");
    const int status = Workplace::wait(pid_);
    log = text_of(place_.path("log"));
    return status;
  }
  std::string log;

 private:
  bool has_begun(const char* spool) const {
    std::error_code error;
    for (fs::directory_iterator entry(place_.path("results.db.runs"), error), end;
         !error && entry != end; entry.increment(error))
      if (entry->path().filename().string().ends_with("-2-1"))
        return !text_of(entry->path() / spool).empty();
    return false;
  }

  const Workplace& place_;
  pid_t pid_;
};

}  // namespace

TEST_CASE("a database that is moved during a sweep: it stops, says where it is, loses nothing") {
  const Workplace place;
  Sweep sweep(place);
  fs::rename(place.path("results.db"), place.path("b.db"));
  const bool is_replaced = GENERATE(false, true);
  if (is_replaced) fs::create_directory(place.path("results.db"));
  CHECK(sweep.finish() == 2);
  INFO(sweep.log);
  CHECK_THAT(sweep.log, Contains("results.db: was moved to " + place.path("b.db").string()) &&
                            Contains("the run that it finished is in it, and --db ") &&
                            Contains("the next sweep stores it"));
  if (is_replaced) {
    CHECK_THAT(sweep.log, Contains("; a folder stands there now"));
    fs::remove(place.path("results.db"));
  }
  fs::rename(place.path("b.db"), place.path("results.db"));
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | running"});
  const auto again = place.run("ok");
  INFO(again.output);
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("which a harness had left running: ok"));
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | ok", "3 | 1 | ok"});
}

TEST_CASE("a database that is deleted during a sweep is saved") {
  const Workplace place;
  Sweep sweep(place);
  for (const char* suffix : {"", "-wal", "-shm"})
    fs::remove(place.path("results.db").string() + suffix);
  place.write("results.db", "another file");
  CHECK(sweep.finish() == 2);
  INFO(sweep.log);
  CHECK_THAT(sweep.log, Contains("results.db: was deleted; another file stands there now") &&
                            Contains("is saved in " + place.path("results.db.saved").string()));
  CHECK(text_of(place.path("results.db")) == "another file");
  fs::rename(place.path("results.db.saved"), place.path("results.db"));
  CHECK(place.run("ok").status == 0);
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | ok", "3 | 1 | ok"});
}

TEST_CASE("a runs folder that is removed during a sweep stops it") {
  const Workplace place;
  Sweep sweep(place);
  const fs::path folder = place.path("results.db.runs");
  SECTION("moved") {
    fs::rename(folder, place.path("moved"));
    CHECK(sweep.finish() == 2);
    CHECK_THAT(sweep.log,
               Contains("results.db.runs: was moved to " + place.path("moved").string()));
    fs::rename(place.path("moved"), folder);
    CHECK(place.run("ok").status == 0);
    CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | ok", "3 | 1 | ok"});
  }
  SECTION("removed") {
    fs::remove_all(folder);
    CHECK(sweep.finish() == 2);
    CHECK_THAT(sweep.log, Contains("results.db.runs: was deleted; the sweep stops: the run that it "
                                   "finished is in " +
                                   place.path("results.db").string()));
    CHECK(place.run("ok").status == 0);
    CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | failed", "2 | 2 | ok", "3 | 1 | ok"});
    CHECK_THAT(place.query("SELECT reason FROM run WHERE seed = 2 AND attempt = 1")[0],
               Contains("interrupted: ") && Contains("results.db.runs: was deleted"));
  }
}

TEST_CASE("no second harness comes in by another name, nor where the lock's file is gone") {
  const Workplace place;
  Sweep sweep(place);
  fs::path other = place.path("results.db");
  SECTION("the lock is removed") { fs::remove(place.path("results.db.runs/lock")); }
  SECTION("a hard link") {
    fs::create_hard_link(place.path("results.db"), other = place.path("hard.db"));
  }
  SECTION("a link") { fs::create_symlink("results.db", other = place.path("link.db")); }
  SECTION("a path") { other = place.path("./") / "." / "results.db"; }
  const auto second = run_program(
      {TERSOR_PROGRAM, "run", place.path("matrix.json").string(), "--db", other.string()},
      {{"TERSOR_WORKER", TERSOR_FAKE_WORKER}});
  INFO(second.output);
  CHECK(second.status == 2);
  CHECK_THAT(second.output, Contains("another tersor") && Contains("is running cells into this"));
  CHECK_FALSE(fs::exists(place.path("hard.db.runs")));
  CHECK(sweep.finish() == 0);
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | ok", "3 | 1 | ok"});
}

TEST_CASE("what others put there is not followed, and a refused run leaves nothing") {
  const Workplace place;
  place.write_matrix("1");
  const fs::path victim = place.write("victim", "precious");
  const fs::path folder = place.path("results.db.runs");
  const fs::path elsewhere = place.path("elsewhere");
  std::string why;
  SECTION("a link in place of the folder") {
    fs::create_directory(elsewhere);
    fs::create_symlink(elsewhere, folder);
    why = "results.db.runs: is a link";
  }
  SECTION("a file in place of the folder") {
    place.write("results.db.runs", "");
    why = "results.db.runs: is a link or a file";
  }
  SECTION("a link in place of the lock") {
    fs::create_directory(folder);
    fs::create_symlink(victim, folder / "lock");
    why = "results.db.runs/lock: is a link";
  }
  SECTION("a second name of another file in place of the lock") {
    fs::create_directory(folder);
    fs::create_hard_link(victim, folder / "lock");
    why = "lock: is no plain file, or has a second name";
  }
  SECTION("a folder that everybody may write to") {
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::all);
    why = "may be written by everybody; take that away with chmod o-w";
  }
  SECTION("a folder of another owner") {
    if (geteuid() != 0) return;
    fs::create_directory(folder);
    REQUIRE(chown(folder.c_str(), 65534, 65534) == 0);
    why = "results.db.runs: belongs to user 65534, not to 0";
  }
  const auto result = place.run("ok");
  CHECK(result.status == 2);
  CHECK_THAT(result.output, Contains(why));
  CHECK(text_of(victim) == "precious");
  CHECK_FALSE(fs::exists(place.path("results.db")));
  CHECK_FALSE(fs::exists(elsewhere / "lock"));
}

TEST_CASE("a sweep without runs leaves no empty folder") {
  const Workplace place;
  place.write("matrix.json", R"({"name": "m", "matrix": {"dataset": "mrpc"}})");
  CHECK(place.run("ok").status == 3);
  CHECK(fs::exists(place.path("results.db")));
  CHECK_FALSE(fs::exists(place.path("results.db.runs")));
}

TEST_CASE("another process that writes is waited for, and the finished run is stored at once") {
  const Workplace place;
  Sweep sweep(place);
  SQLite::Database other(place.path("results.db").string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  place.write("gate", "");
  Workplace::wait_for(
      [&] {
        return text_of(place.path("log"))
                   .find("waiting for another process that has been writing") != std::string::npos;
      },
      "the sweep to say that it waits");
  other.exec("ROLLBACK");
  CHECK(sweep.finish() == 0);
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | ok", "3 | 1 | ok"});
}

TEST_CASE("a database whose name is no UTF-8 keeps its spools") {
  const Workplace place;
  place.write_matrix("1");
  const fs::path odd = place.path("d\xff.db");
  const auto run = [&](const char* fake) {
    return run_program(
        {TERSOR_PROGRAM, "run", place.path("matrix.json").string(), "--db", odd.string(), "--data",
         (fs::create_directories(place.path("data\xff")), place.path("data\xff").string())},
        {{"TERSOR_WORKER", TERSOR_FAKE_WORKER}, {"TERSOR_FAKE", fake}});
  };
  const auto first = run("ok");
  INFO(first.output);
  CHECK(first.status == 0);
  {
    SQLite::Database db(odd.string(), SQLite::OPEN_READWRITE);
    CHECK(fs::is_directory(place.path(db.execAndGet("SELECT spool_dir FROM run").getString())));
    db.exec("UPDATE run SET status = 'running'");
  }
  const auto second = run("crash");
  INFO(second.output);
  CHECK(second.status == 0);
  CHECK_THAT(second.output, Contains("left running: ok"));
}
