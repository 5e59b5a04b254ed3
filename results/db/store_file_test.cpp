// SPDX-License-Identifier: Apache-2.0
// What the store does to the file that it has open, and what others may do to it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <thread>

#include "common/error.hpp"
#include "results/db/store.hpp"
#include "results/query/reader.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::FakeRun;
using testing::TempFolder;

std::int64_t runs_in(const fs::path& db) {
  Reader reader(db);
  return std::get<std::int64_t>(reader.query("SELECT count(*) FROM run").rows.at(0).at(0));
}

void add_run(Store& store, std::uint64_t seed) {
  const FakeRun run;
  store.add_cell(run.cell_key(), run.config(), run.codecs());
  store.begin_run(run.cell_key(), seed, 0, 0, 0, "box", "spools");
}

/// Whether another process finds the lock that every connection to a database with a log holds.
bool is_locked(const fs::path& db) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(db.c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t{1} << 30) + 2;  // SQLite's SHARED_FIRST
    lock.l_len = 510;
    fcntl(file, F_GETLK, &lock);
    _exit(lock.l_type == F_UNLCK ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 0;
}

TEST_CASE("a reader of the same process does not take the writer's locks away") {
  const TempFolder folder;
  CHECK_THROWS_AS(Reader(folder / "a.db"), Error);
  Store store(folder / "a.db");
  CHECK(is_locked(folder / "a.db"));
  CHECK(runs_in(folder / "a.db") == 0);
  CHECK(is_locked(folder / "a.db"));
}

TEST_CASE("after a checkpoint the file alone is the database, wherever it is moved") {
  const TempFolder folder;
  Store store(folder / "a.db");
  add_run(store, 1);
  CHECK(fs::file_size(folder / "a.db-wal") > 0);
  CHECK(store.is_in_place());
  SECTION("no reader") {
    store.checkpoint();
    CHECK(fs::file_size(folder / "a.db-wal") == 0);
    fs::rename(folder / "a.db", folder / "b.db");
    CHECK_FALSE(store.is_in_place());
    CHECK(runs_in(folder / "b.db") == 1);
  }
  SECTION("a reader in the way is not waited for") {
    Reader reader(folder / "a.db");
    reader.query("SELECT * FROM run");
    add_run(store, 2);
    const auto begin = std::chrono::steady_clock::now();
    store.checkpoint();
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
  }
}

TEST_CASE("a database that was deleted is saved whole") {
  const TempFolder folder;
  Store store(folder / "a.db");
  add_run(store, 1);
  fs::remove(folder / "a.db");
  fs::remove(folder / "a.db-wal");
  add_run(store, 2);
  CHECK_FALSE(store.is_in_place());
  store.save_copy(folder / "saved.db");
  CHECK(runs_in(folder / "saved.db") == 2);
  CHECK_THROWS_WITH(store.save_copy(folder / "no/where.db"), Contains("no/where.db"));
}

TEST_CASE("another process that writes is waited for as long as the caller likes") {
  const TempFolder folder;
  std::atomic<int> questions = 0;
  std::atomic<bool> goes_on = true;
  Store store(folder / "a.db", [&](double waited_seconds) {
    CHECK(waited_seconds >= 0);
    ++questions;
    return goes_on.load();
  });
  SQLite::Database other((folder / "a.db").string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  SECTION("until it has ended") {
    std::thread release([&] {
      while (questions < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      other.exec("COMMIT");
    });
    add_run(store, 1);
    release.join();
    CHECK(runs_in(folder / "a.db") == 1);
  }
  SECTION("or given up") {
    goes_on = false;
    CHECK_THROWS_WITH(add_run(store, 1), Contains("another process is writing to it"));
    CHECK(questions > 0);
  }
}

TEST_CASE("values that the schema refuses are bad data, not a bad file") {
  const TempFolder folder;
  Store store(folder / "a.db");
  try {
    store.write([](SQLite::Database& db) {
      db.exec("INSERT INTO run (cell_id, seed, attempt, status) VALUES (1, 1, 0, 'x')");
    });
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kData);
  }
}

TEST_CASE("a row that somebody took away is named") {
  const TempFolder folder;
  Store store(folder / "a.db");
  CHECK_THROWS_WITH(store.run(7), Contains("a.db: run 7 is not in it any more"));
  CHECK_THROWS_WITH(store.finish_run(7, {}, "", 0, ""), Contains("run 7 is not in it any more"));
}

}  // namespace
}  // namespace tersor::results
