// SPDX-License-Identifier: Apache-2.0
#include "results/db/read_only.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <memory>

#include "common/error.hpp"
#include "results/db/database.hpp"
#include "results/query/reader.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using testing::TempFolder;
namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

/// Reads as another user than the one that owns the files, until its end.
class AnotherUser {
 public:
  AnotherUser() : is_one_(geteuid() == 0 && seteuid(kNobody) == 0) {}
  ~AnotherUser() {
    if (is_one_ && seteuid(0) != 0) std::abort();
  }
  AnotherUser(const AnotherUser&) = delete;
  AnotherUser& operator=(const AnotherUser&) = delete;
  explicit operator bool() const { return is_one_; }

 private:
  bool is_one_;
};

std::int64_t runs_of(const fs::path& file) {
  Reader reader(file);
  return std::get<std::int64_t>(reader.query("SELECT count(*) FROM run").rows[0][0]);
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("reading another user's database leaves nothing beside it") {
  const TempFolder folder;
  const auto file = [&](const std::string& suffix) { return folder / ("a.db" + suffix); };
  fs::permissions(folder.path(), fs::perms::all);
  testing::FakeRun run;
  {
    Store store(file(""));
    testing::store_run(store, run, folder / "spools");
  }
  if (const AnotherUser nobody; nobody) {
    CHECK(runs_of(file("")) == 1);
    CHECK_FALSE(fs::exists(file("-wal")));
    CHECK_FALSE(fs::exists(file("-shm")));
  } else {
    WARN("skipped: only root can act as another user");
    return;
  }

  run.seed = 2;
  std::array<int, 2> ready{};
  REQUIRE(pipe(ready.data()) == 0);
  // SQLite's locks and shared memory are those of a process: the writer is another one.
  const pid_t writer = fork();
  if (writer == 0) {
    Store store(file(""));
    testing::store_run(store, run, folder / "spools");
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  {
    const AnotherUser nobody;
    CHECK(runs_of(file("")) == 2);
  }
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  fs::remove(file("-shm"));
  const AnotherUser nobody;
  CHECK(runs_of(file("")) == 2);  // from a log that nobody has open
  CHECK_FALSE(fs::exists(file("-shm")));
}

TEST_CASE("a file that its owner writes while it is read without locks is no result") {
  const TempFolder folder;
  fs::permissions(folder.path(), fs::perms::all);
  { Store store(folder / "a.db"); }
  std::unique_ptr<Reader> reader;
  {
    const AnotherUser nobody;
    if (!nobody) {
      WARN("skipped: only root can act as another user");
      return;
    }
    reader = std::make_unique<Reader>(folder / "a.db");
    CHECK(reader->query("SELECT count(*) FROM run").rows.size() == 1);
  }
  {
    Store store(folder / "a.db");
    store.add_sweep("s", "{}");
  }
  CHECK_THAT(message_of([&] { reader->query("SELECT count(*) FROM run"); }),
             Contains("was written by its owner while it was read"));
}

TEST_CASE("a database is found by every spelling of its path") {
  const TempFolder folder;
  { Store store(folder / "a b?c#d%e.db"); }
  const std::string name = (folder / "a b?c#d%e.db").string();
  CHECK(runs_of("/" + name) == 0);
  CHECK(runs_of("//" + name) == 0);
  CHECK(runs_of(fs::relative(name)) == 0);
  CHECK_NOTHROW(Store("/" + name));
}

TEST_CASE("why a database cannot be opened is said") {
  const TempFolder folder;
  CHECK_THAT(message_of([] { Reader reader(""); }), Contains("name of the database is empty"));
  CHECK_THAT(message_of([] { Store store(""); }), Contains("name of the database is empty"));
  fs::create_symlink("loop.db", folder / "loop.db");
  CHECK_THAT(message_of([&] { Reader reader(folder / "loop.db"); }),
             Contains("loop.db: cannot be read: Too many levels of symbolic links"));
  fs::create_directory(folder / "locked");
  { Store store(folder / "locked" / "a.db"); }
  fs::permissions(folder / "locked", fs::perms::owner_all);
  fs::permissions(folder.path(), fs::perms::all);
  if (const AnotherUser nobody; nobody)
    CHECK_THAT(message_of([&] { Reader reader(folder / "locked" / "a.db"); }),
               Contains("cannot be read: Permission denied"));
}

TEST_CASE("a version that does not go with the tables is refused, and nothing is changed") {
  const TempFolder folder;
  const fs::path file = folder / "a.db";
  { Store store(file); }
  for (const std::string version : {"-1", "0", "2", "1000000"}) {
    {
      SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
      db.exec("PRAGMA user_version = " + version);
    }
    for (const std::string& message :
         {message_of([&] { Reader reader(file); }), message_of([&] { Store store(file); })})
      CHECK_THAT(message, Contains("has schema version " + version) && Contains(file.string()) &&
                              !Contains("already exists"));
  }
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  db.exec("PRAGMA user_version = 1; DROP TABLE schema_migration");
  CHECK_THAT(message_of([&] { Reader reader(file); }), Contains("has schema version 1"));
}

}  // namespace
}  // namespace tersor::results
