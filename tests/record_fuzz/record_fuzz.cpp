// SPDX-License-Identifier: Apache-2.0
// Spools, imported files and databases, changed at random, through the code that takes them from
// outside. Each must be taken or refused with a reason; a run's spool may never be an error of the
// database. Case N of a seed is the same everywhere: --first N --cases 1 repeats it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "common/error.hpp"
#include "results/ingest/import.hpp"
#include "results/ingest/ingest.hpp"
#include "results/query/reader.hpp"
#include "results/query/show.hpp"
#include "results/testing/spools.hpp"
#include "tests/record_fuzz/mutate.hpp"

namespace tersor::fuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using results::testing::FakeRun;
using Clock = std::chrono::steady_clock;

/// Of the case that runs, for the handlers of signals.
volatile sig_atomic_t current_case = 0;

void report_signal(int signal) {
  std::array<char, 96> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "case %ld: %s\n", static_cast<long>(current_case),
                    signal == SIGALRM ? "no end after 20 s" : "ended by a signal");
  if (write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length)) < 0) _exit(4);
  _exit(3);
}

/// How a case ended: "taken", or the kind of its refusal.
using Ends = std::map<std::string, std::int64_t>;

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void expect(ErrorKind kind, std::initializer_list<ErrorKind> allowed, const Error& error) {
  for (const ErrorKind one : allowed)
    if (kind == one) return;
  throw Failure(std::string(to_string(kind)) + ": " + error.what());
}

FakeRun small_run() {
  FakeRun run;
  run.codec = "topk";
  run.steps = 3;
  run.samples_gradients = true;
  return run;
}

/// Spools of one run, into a database that stays.
class SpoolTarget {
 public:
  explicit SpoolTarget(const fs::path& folder)
      : folder_(folder / "spool"), store_(folder / "spools.db") {
    run_ = small_run();
    store_.add_cell(run_.cell_key(), run_.config(), run_.codecs());
    info_ = store_.begin_run(run_.cell_key(), run_.seed, 0, 0, 0, "box", "");
    for (int rank = 0; rank < run_.world; ++rank) {
      auto records = run_.records(rank);
      for (ordered_json& record : records) shorten(record);
      records_.push_back(std::move(records));
    }
  }

  std::string operator()(Random& random) {
    const std::size_t changed = below(random, records_.size());
    for (std::size_t rank = 0; rank < records_.size(); ++rank) {
      auto records = records_[rank];
      const bool is_structured = below(random, 4) != 0;
      if (rank == changed && is_structured) mutate_records(random, records);
      std::string text;
      for (const ordered_json& record : records) text += record.dump() + "\n";
      if (rank == changed && !is_structured) mutate_bytes(random, text);
      results::testing::write_text(folder_ / ("rank" + std::to_string(rank) + ".jsonl"), text);
    }
    try {
      results::ingest(store_, info_.id, folder_);
      return "taken";
    } catch (const Error& error) {
      expect(error.kind(), {ErrorKind::kData}, error);
      return "refused";
    }
  }

 private:
  /// Four rows of an evaluation show as much as 400.
  static void shorten(ordered_json& record) {
    if (record["type"] != "eval") return;
    record["rows"] = 4;
    record["predictions"] = {1.0, 1.0, 0.0, 1.0};
    record["labels"] = {1.0, 0.0, 1.0, 0.0};
  }

  fs::path folder_;
  results::Store store_;
  FakeRun run_;
  results::RunInfo info_;
  std::vector<std::vector<ordered_json>> records_;
};

/// Files of measurements, into a database that begins anew before it grows.
class ImportTarget {
 public:
  explicit ImportTarget(const fs::path& folder) : folder_(folder) {
    const ordered_json row{{"name", "encode/cast/float32/1x4x8"},
                           {"run_type", "iteration"},
                           {"repetitions", 1},
                           {"threads", 1},
                           {"iterations", 3},
                           {"real_time", 1.5},
                           {"cpu_time", 1.25},
                           {"time_unit", "us"},
                           {"payload_bytes", 12}};
    ordered_json cv = row;
    cv.update(
        {{"run_type", "aggregate"}, {"aggregate_name", "cv"}, {"aggregate_unit", "percentage"}});
    ordered_json skipped = row;
    skipped.update({{"skipped", true}, {"skip_message", "not here"}});
    files_.push_back({{"context",
                       {{"date", "2026-01-31"},
                        {"executable", "bench"},
                        {"num_cpus", 2},
                        {"caches", ordered_json::array()}}},
                      {"benchmarks", {row, cv, skipped}}});
    const ordered_json equal{{"kind", "equality"}, {"operation", "encode"}, {"spec", "sign"},
                             {"dtype", "float32"}, {"shape", {1, 4, 8}},    {"status", "ok"},
                             {"equal", true}};
    const ordered_json speed{{"kind", "speed"},
                             {"operation", "decode"},
                             {"spec", "sign"},
                             {"dtype", "float32"},
                             {"shape", {1, 4, 8}},
                             {"status", "ok"},
                             {"mode", "cold"},
                             {"times_ns", {3, 1, 2}},
                             {"copy_times_ns", {5, 7}},
                             {"raw_bytes", 16384},
                             {"ranks", 2}};
    files_.push_back({{"format", "tersor-gpu-check"},
                      {"version", 1},
                      {"measured_at", "2026-01-31"},
                      {"hardware", {{"gpu", "made up"}, {"gpus", 1}}},
                      {"environment", {{"cuda", "13.0"}, {"threads", 1}}},
                      {"cases", {equal, speed}}});
  }

  std::string operator()(Random& random) {
    ordered_json file = files_[below(random, files_.size())];
    const bool is_structured = below(random, 4) != 0;
    if (is_structured) mutate_value(random, file);
    std::string text = file.dump();
    if (!is_structured) mutate_bytes(random, text);
    results::testing::write_text(folder_ / "import.json", text);
    constexpr std::int64_t kLargest = 4 << 20;
    std::error_code code;
    const fs::path database = folder_ / "imports.db";
    if (const auto bytes = fs::file_size(database, code); !code && bytes > kLargest)
      for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(database.string() + suffix);
    try {
      return results::import_file(database, folder_ / "import.json").was_there ? "known" : "taken";
    } catch (const Error& error) {
      expect(error.kind(), {ErrorKind::kData}, error);
      return "refused";
    }
  }

 private:
  fs::path folder_;
  std::vector<ordered_json> files_;
};

/// A database with finished runs and an import, damaged by flipped bits or by values that its
/// schema permits, read as `tersor query` and `show` do.
class DatabaseTarget {
 public:
  explicit DatabaseTarget(const fs::path& folder) : file_(folder / "read.db") {
    const fs::path whole = folder / "whole.db";
    {
      results::Store store(whole);
      const std::int64_t sweep = store.add_sweep("s", "{}");
      for (const std::uint64_t seed : {1, 2}) {
        FakeRun run = small_run();
        run.seed = seed;
        results::testing::store_run(store, run, folder / "whole.runs", sweep);
      }
      results::testing::write_text(
          folder / "whole.json",
          R"({"context":{"num_cpus":2},"benchmarks":[{"name":"a/b/c","iterations":1,"real_time":1,)"
          R"("cpu_time":1,"time_unit":"us"}]})");
    }
    results::import_file(whole, folder / "whole.json");
    SQLite::Database db(whole.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA journal_mode = DELETE");
    bytes_ = results::testing::read_text(whole);
    SQLite::Statement find(
        db,
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT IN "
        "('student_t', 'schema_migration') ORDER BY 1, 2");
    while (find.executeStep())
      columns_.emplace_back(find.getColumn(0).getString(), find.getColumn(1).getString());
  }

  std::string operator()(Random& random) {
    std::string bytes = bytes_;
    const bool is_flipped = below(random, 3) == 0;
    if (is_flipped)
      for (std::size_t left = 1 + below(random, 8); left > 0; --left)
        bytes[below(random, bytes.size())] ^= static_cast<char>(1 << below(random, 8));
    results::testing::write_text(file_, bytes);
    if (!is_flipped) update(random);
    try {
      results::Reader reader(file_);
      const results::QueryLimits limits{.rows = 1000, .seconds = 10};
      const std::vector<std::string> names = results::show_names();
      results::show(reader, names[below(random, names.size())],
                    {"", below(random, 2) == 0, limits});
      constexpr std::array<const char*, 7> kViews{"v_pareto",     "v_env_diff", "v_by_config",
                                                  "v_incomplete", "v_deciding", "v_imported",
                                                  "v_seed_mean"};
      reader.query(std::string("SELECT * FROM ") + kViews[below(random, kViews.size())], limits);
      return "read";
    } catch (const Error& error) {
      expect(error.kind(), {ErrorKind::kDatabase, ErrorKind::kData, ErrorKind::kMissing}, error);
      return "refused";
    }
  }

 private:
  /// A value in one column of all rows or of one, where the schema lets it in.
  void update(Random& random) {
    constexpr std::array<const char*, 14> kValues{
        "NULL", "-1",    "0",       "9223372036854775807", "1e308", "9e999",   "''", "'x'",
        "'{'",  "'[[1'", "x'00ff'", "zeroblob(9)",         "'\"'",  "'topk(('"};
    SQLite::Database db(file_.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
    if (below(random, 4) == 0) db.exec("PRAGMA ignore_check_constraints = ON");
    if (below(random, 50) == 0)
      db.exec("PRAGMA user_version = " + std::to_string(static_cast<int>(below(random, 12)) - 1));
    for (std::size_t left = 1 + below(random, 3); left > 0; --left) {
      const auto& [table, column] = columns_[below(random, columns_.size())];
      const std::string where = below(random, 2) == 0 ? "" : " WHERE rowid = 1";
      db.tryExec("UPDATE OR IGNORE \"" + table + "\" SET \"" + column +
                 "\" = " + kValues[below(random, kValues.size())] + where);
    }
  }

  fs::path file_;
  std::string bytes_;
  std::vector<std::pair<std::string, std::string>> columns_;
};

struct Options {
  std::int64_t cases = 1000;
  std::int64_t first = 0;
  std::uint64_t seed = 1;
  double seconds = 0;  ///< 0: all cases, however long
  int jobs = 1;
  std::string folder;
};

/// Every `jobs`-th case, this process's own share.
int run_share(const Options& options, int share, const fs::path& folder) {
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT})
    if (::signal(signal, report_signal) == SIG_ERR) return 4;
  fs::create_directories(folder);
  SpoolTarget spools(folder);
  ImportTarget imports(folder);
  DatabaseTarget databases(folder);
  Ends ends;
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::int64_t done = 0;
  int failures = 0;
  for (std::int64_t number = options.first + share; number < options.first + options.cases;
       number += options.jobs) {
    if (options.seconds > 0 && passed() > options.seconds) break;
    current_case = static_cast<sig_atomic_t>(number);
    alarm(20);
    Random random(options.seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(number));
    // Ten cases: six spools, three imports, a database.
    const std::int64_t kind = number % 10;
    const char* name = kind < 6 ? "spool" : kind < 9 ? "import" : "database";
    try {
      const std::string end = kind < 6   ? spools(random)
                              : kind < 9 ? imports(random)
                                         : databases(random);
      ++ends[std::string(name) + " " + end];
    } catch (const std::exception& error) {
      std::fprintf(stderr, "case %lld (%s): %s\n", static_cast<long long>(number), name,
                   error.what());
      if (++failures == 20) break;
    }
    ++done;
  }
  alarm(0);
  std::string counts;
  for (const auto& [end, count] : ends) counts += ", " + end + " " + std::to_string(count);
  std::printf("share %d: %lld cases in %.0f s%s, %d failed\n", share, static_cast<long long>(done),
              passed(), counts.c_str(), failures);
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app{"record_fuzz: spools, imports and databases changed at random"};
  app.add_option("--cases", options.cases, "how many")->capture_default_str();
  app.add_option("--first", options.first, "number of the first")->capture_default_str();
  app.add_option("--seed", options.seed, "of all of them")->capture_default_str();
  app.add_option("--seconds", options.seconds, "end earlier after so long; 0: never");
  app.add_option("--jobs", options.jobs, "processes")->capture_default_str();
  app.add_option("--folder", options.folder, "for files; default: a new one in /dev/shm, removed");
  CLI11_PARSE(app, argc, argv);
  std::string folder = options.folder;
  if (folder.empty()) {
    std::error_code code;
    folder = fs::is_directory("/dev/shm", code) ? "/dev/shm/tersor-fuzz-XXXXXX"
                                                : "/tmp/tersor-fuzz-XXXXXX";
    if (!mkdtemp(folder.data())) return 4;
  }
  std::vector<pid_t> children;
  for (int share = 0; share < options.jobs; ++share) {
    const pid_t child = fork();
    if (child == 0) {
      int status = 1;
      try {
        status = run_share(options, share, fs::path(folder) / std::to_string(share));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "share %d: %s\n", share, error.what());
      }
      _exit(status);
    }
    children.push_back(child);
  }
  int worst = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 3);
  }
  std::error_code code;
  if (options.folder.empty()) fs::remove_all(folder, code);
  return worst;
}

}  // namespace
}  // namespace tersor::fuzz

int main(int argc, char** argv) { return tersor::fuzz::main_of(argc, argv); }
