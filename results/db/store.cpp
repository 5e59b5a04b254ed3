// SPDX-License-Identifier: Apache-2.0
#include "results/db/store.hpp"

#include <SQLiteCpp/VariadicBind.h>
#include <sqlite3.h>

#include <bit>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "common/system_reason.hpp"
#include "results/db/database.hpp"
#include "results/db/facts.hpp"
#include "results/text.hpp"

namespace tersor::results {
namespace {

constexpr const char* kRunColumns =
    "r.id, c.cell_key, r.seed, r.attempt, r.status, r.reason, r.spool_dir, "
    "coalesce(c.former_key, ''), r.cause";

RunInfo run_info(SQLite::Statement& row) {
  RunInfo run;
  run.id = row.getColumn(0).getInt64();
  run.cell_key = row.getColumn(1).getString();
  run.seed = std::bit_cast<std::uint64_t>(row.getColumn(2).getInt64());
  run.attempt = row.getColumn(3).getInt();
  run.status = protocol::parse_status(row.getColumn(4).getString());
  run.reason = row.getColumn(5).getString();
  run.spool_dir = row.getColumn(6).getString();
  run.former_key = row.getColumn(7).getString();
  run.cause = protocol::parse_cause(row.getColumn(8).getString());
  return run;
}

/// SQLite's integers are signed.
std::int64_t column_of(std::uint64_t seed) { return std::bit_cast<std::int64_t>(seed); }

Error missing_run(const std::filesystem::path& path, RunId run) {
  return Error(ErrorKind::kDatabase,
               path.string() + ": run " + std::to_string(run) +
                   " is not in it any more: somebody replaced or changed what is in the file");
}

}  // namespace

struct Store::Impl {
  std::filesystem::path path;
  bool may_wait = true;
  Patience patience;
  SQLite::Database db;

  Impl(const std::filesystem::path& file, Patience given)
      : path(file),
        patience([this, given = std::move(given)](double waited_seconds) {
          constexpr double kSeconds = 10;
          return may_wait && (given ? given(waited_seconds) : waited_seconds < kSeconds);
        }),
        db(open_for_writing(file, &patience)) {}

  /// One call, one transaction.
  template <typename Work>
  auto write(Work&& work) {
    return with_database_errors(path, [&] {
      SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
      auto result = work();
      transaction.commit();
      return result;
    });
  }

  std::int64_t cell_id(const std::string& cell_key) {
    SQLite::Statement find(db, "SELECT id FROM cell WHERE cell_key = ?");
    find.bind(1, cell_key);
    if (!find.executeStep())
      throw Error(ErrorKind::kInternal, "cell " + cell_key + " is not in the database (add_cell)");
    return find.getColumn(0).getInt64();
  }

  int last_attempt(std::int64_t cell, std::uint64_t seed) {
    SQLite::Statement find(
        db, "SELECT coalesce(max(attempt), 0) FROM run WHERE cell_id = ? AND seed = ?");
    SQLite::bind(find, cell, column_of(seed));
    find.executeStep();
    return find.getColumn(0).getInt();
  }

  std::optional<RunInfo> run_by_id(RunId id) {
    SQLite::Statement find(db, std::string("SELECT ") + kRunColumns +
                                   " FROM run r JOIN cell c ON c.id = r.cell_id WHERE r.id = ?");
    find.bind(1, id);
    if (!find.executeStep()) return std::nullopt;
    return run_info(find);
  }
};

Store::Store(const std::filesystem::path& path, Patience patience)
    : impl_(std::make_unique<Impl>(path, std::move(patience))) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

std::int64_t Store::add_sweep(const std::string& name, const std::string& matrix_text) {
  return impl_->write([&] {
    SQLite::Statement add(impl_->db,
                          "INSERT INTO sweep (name, hash, matrix, first_started_at, "
                          "last_started_at) VALUES (?1, ?2, ?3, ?4, ?4) "
                          "ON CONFLICT (name, hash) DO UPDATE SET last_started_at = ?4 "
                          "RETURNING id");
    SQLite::bind(add, clean_text(name), hash_of(matrix_text), clean_text(matrix_text), utc_now());
    add.executeStep();
    const std::int64_t id = add.getColumn(0).getInt64();
    add.reset();
    return id;
  });
}

void Store::add_cell(const std::string& cell_key, const nlohmann::ordered_json& config,
                     const nlohmann::json& codecs) {
  impl_->write([&] { return add_cell_row(impl_->db, cell_key, config, codecs); });
}

std::optional<RunInfo> Store::find_run(const std::string& cell_key, std::uint64_t seed) const {
  return with_database_errors(impl_->path, [&]() -> std::optional<RunInfo> {
    SQLite::Statement find(impl_->db,
                           std::string("SELECT ") + kRunColumns +
                               " FROM run r JOIN cell c ON c.id = r.cell_id WHERE c.cell_key = ? "
                               "AND r.seed = ? ORDER BY r.status = 'ok' DESC, r.attempt DESC "
                               "LIMIT 1");
    SQLite::bind(find, cell_key, column_of(seed));
    if (!find.executeStep()) return std::nullopt;
    return run_info(find);
  });
}

std::vector<RunInfo> Store::unfinished_runs() const {
  return with_database_errors(impl_->path, [&] {
    SQLite::Statement find(impl_->db, std::string("SELECT ") + kRunColumns +
                                          " FROM run r JOIN cell c ON c.id = r.cell_id "
                                          "WHERE r.status IN ('planned', 'running') ORDER BY r.id");
    std::vector<RunInfo> runs;
    while (find.executeStep()) runs.push_back(run_info(find));
    return runs;
  });
}

RunInfo Store::begin_run(const std::string& cell_key, std::uint64_t seed, std::int64_t sweep,
                         int block, int order, const std::string& host,
                         const std::string& spool_dir) {
  return impl_->write([&] {
    const std::int64_t cell = impl_->cell_id(cell_key);
    const int attempt = impl_->last_attempt(cell, seed) + 1;
    SQLite::Statement add(impl_->db,
                          "INSERT INTO run (cell_id, seed, attempt, status, sweep_id, block, "
                          "run_order, host, spool_dir, started_at, code_id) "
                          "VALUES (?, ?, ?, 'running', nullif(?, 0), ?, ?, ?, ?, ?, ?)");
    SQLite::bind(add, cell, column_of(seed), attempt, sweep, block, order, clean_text(host),
                 spool_dir, utc_now(), add_own_code(impl_->db));
    add.exec();
    return *impl_->run_by_id(impl_->db.getLastInsertRowid());
  });
}

RunInfo Store::record_unstarted(const std::string& cell_key, std::uint64_t seed, std::int64_t sweep,
                                const protocol::Verdict& verdict, const std::string& reason) {
  return impl_->write([&] {
    const std::int64_t cell = impl_->cell_id(cell_key);
    const int last = impl_->last_attempt(cell, seed);
    // The same verdict again is the same row, however often the sweep is started.
    SQLite::Statement same(impl_->db,
                           "SELECT id FROM run WHERE cell_id = ? AND seed = ? AND attempt = ? AND "
                           "status = ? AND reason = ? AND started_at IS NULL");
    const std::string status(to_string(verdict.status));
    SQLite::bind(same, cell, column_of(seed), last, status, clean_text(reason));
    if (same.executeStep()) return *impl_->run_by_id(same.getColumn(0).getInt64());
    SQLite::Statement add(impl_->db,
                          "INSERT INTO run (cell_id, seed, attempt, status, reason, sweep_id, "
                          "ended_at, code_id, cause) "
                          "VALUES (?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?)");
    SQLite::bind(add, cell, column_of(seed), last + 1, status, clean_text(reason), sweep, utc_now(),
                 add_own_code(impl_->db), std::string(to_string(verdict.cause)));
    add.exec();
    return *impl_->run_by_id(impl_->db.getLastInsertRowid());
  });
}

RunInfo Store::run(RunId id) const {
  const auto info = with_database_errors(impl_->path, [&] { return impl_->run_by_id(id); });
  if (!info) throw missing_run(impl_->path, id);
  return *info;
}

void Store::checkpoint() {
  // That a reader is in the way is no error for SQLite, and not worth waiting for.
  impl_->may_wait = false;
  with_database_errors(impl_->path, [&] { impl_->db.exec("PRAGMA wal_checkpoint(TRUNCATE)"); });
  impl_->may_wait = true;
}

bool Store::is_in_place() const {
  int has_moved = 0;
  errno = 0;
  sqlite3_file_control(impl_->db.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  if (has_moved != 0 && errno != 0 && errno != ENOENT)
    throw Error(ErrorKind::kIo,
                impl_->path.string() + ": cannot be looked at: " + system_reason(errno));
  return has_moved == 0;
}

void Store::save_copy(const std::filesystem::path& path) {
  with_database_errors(path, [&] {
    SQLite::Statement copy(impl_->db, "VACUUM INTO ?");
    SQLite::bind(copy, path.string());
    copy.exec();
  });
}

void Store::write(const std::function<void(SQLite::Database&)>& work) {
  impl_->write([&] {
    work(impl_->db);
    return 0;
  });
}

void Store::finish_run(RunId run, const protocol::Verdict& verdict, const std::string& reason,
                       int exit_code, const std::string& log_tail) {
  const int changed = impl_->write([&] {
    SQLite::Statement update(impl_->db,
                             "UPDATE run SET status = ?, reason = ?, exit_code = ?, log_tail = ?, "
                             "ended_at = ?, cause = ? WHERE id = ?");
    SQLite::bind(update, std::string(to_string(verdict.status)), clean_text(reason), exit_code,
                 clean_text(log_tail), utc_now(), std::string(to_string(verdict.cause)), run);
    return update.exec();
  });
  if (changed != 1) throw missing_run(impl_->path, run);
}

}  // namespace tersor::results
