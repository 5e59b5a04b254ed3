// SPDX-License-Identifier: Apache-2.0
#include "results/db/store.hpp"

#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.hpp"
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

/// Ids start at 1; 0 says that there is no sweep.
void bind_sweep(SQLite::Statement& statement, int index, std::int64_t sweep) {
  if (sweep > 0)
    statement.bind(index, sweep);
  else
    statement.bind(index);
}

void bind_seed(SQLite::Statement& statement, int index, std::uint64_t seed) {
  statement.bind(index, std::bit_cast<std::int64_t>(seed));
}

}  // namespace

struct Store::Impl {
  std::filesystem::path path;
  SQLite::Database db;

  explicit Impl(const std::filesystem::path& file) : path(file), db(open_for_writing(file)) {}

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
    find.bind(1, cell);
    bind_seed(find, 2, seed);
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

Store::Store(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
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
    add.bind(1, clean_text(name));
    add.bind(2, hash_of(matrix_text));
    add.bind(3, clean_text(matrix_text));
    add.bind(4, utc_now());
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
    find.bind(1, cell_key);
    bind_seed(find, 2, seed);
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
                          "VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?)");
    add.bind(1, cell);
    bind_seed(add, 2, seed);
    add.bind(3, attempt);
    bind_sweep(add, 4, sweep);
    add.bind(5, block);
    add.bind(6, order);
    add.bind(7, clean_text(host));
    add.bind(8, clean_text(spool_dir));
    add.bind(9, utc_now());
    add.bind(10, add_own_code(impl_->db));
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
    same.bind(1, cell);
    bind_seed(same, 2, seed);
    same.bind(3, last);
    same.bind(4, std::string(to_string(verdict.status)));
    same.bind(5, clean_text(reason));
    if (same.executeStep()) return *impl_->run_by_id(same.getColumn(0).getInt64());
    SQLite::Statement add(impl_->db,
                          "INSERT INTO run (cell_id, seed, attempt, status, reason, sweep_id, "
                          "ended_at, code_id, cause) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    add.bind(1, cell);
    bind_seed(add, 2, seed);
    add.bind(3, last + 1);
    add.bind(4, std::string(to_string(verdict.status)));
    add.bind(5, clean_text(reason));
    bind_sweep(add, 6, sweep);
    add.bind(7, utc_now());
    add.bind(8, add_own_code(impl_->db));
    add.bind(9, std::string(to_string(verdict.cause)));
    add.exec();
    return *impl_->run_by_id(impl_->db.getLastInsertRowid());
  });
}

RunInfo Store::run(RunId id) const {
  const auto info = with_database_errors(impl_->path, [&] { return impl_->run_by_id(id); });
  if (!info)
    throw Error(ErrorKind::kInternal, "run " + std::to_string(id) + " is not in the database");
  return *info;
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
    update.bind(1, std::string(to_string(verdict.status)));
    update.bind(2, clean_text(reason));
    update.bind(3, exit_code);
    update.bind(4, clean_text(log_tail));
    update.bind(5, utc_now());
    update.bind(6, std::string(to_string(verdict.cause)));
    update.bind(7, run);
    return update.exec();
  });
  if (changed != 1)
    throw Error(ErrorKind::kInternal, "run " + std::to_string(run) + " is not in the database");
}

}  // namespace tersor::results
