// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "protocol/status.hpp"

namespace SQLite {
class Database;
}

namespace tersor::results {

using RunId = std::int64_t;

/// One run as the harness sees it: cell + seed + attempt.
struct RunInfo {
  RunId id = 0;
  std::string cell_key;
  std::uint64_t seed = 0;
  int attempt = 1;
  protocol::Status status = protocol::Status::kPlanned;
  protocol::Cause cause = protocol::Cause::kNone;
  std::string reason;
  std::string former_key;  ///< of the cell before schema version 5: older spools have it; or empty
  std::string spool_dir;   ///< folder of rank0.jsonl, ...: the file system's bytes, any but NUL
};

/// The write side of a results database: the harness's one writer. Opens or creates the file,
/// migrates an older schema, refuses a newer one, a file that is not SQLite and a read-only one
/// (Error(kDatabase) with the path, what was found and what to do). WAL, foreign keys on, every
/// call is one transaction.
class Store {
 public:
  /// `patience`: results::Patience, what to do while another process writes; empty: ten seconds.
  explicit Store(const std::filesystem::path& path,
                 std::function<bool(double waited_seconds)> patience = {});
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  std::int64_t add_sweep(const std::string& name, const std::string& matrix_text);
  /// Idempotent. `config` is to_json(protocol::Cell); `codecs` maps site -> what
  /// compressors::describe gives of its codec.
  void add_cell(const std::string& cell_key, const nlohmann::ordered_json& config,
                const nlohmann::json& codecs);

  /// The run that decides whether to run again: an `ok` one if any, else the latest attempt.
  std::optional<RunInfo> find_run(const std::string& cell_key, std::uint64_t seed) const;
  /// Runs left `running` by a harness that died: their spools are ingested, then they are finished
  /// or retried.
  std::vector<RunInfo> unfinished_runs() const;

  /// New attempt with status running. `block` and `order` say where in the sweep it ran.
  RunInfo begin_run(const std::string& cell_key, std::uint64_t seed, std::int64_t sweep, int block,
                    int order, const std::string& host, const std::string& spool_dir);
  /// A row for a run that never started (skipped, infeasible) with its reason.
  RunInfo record_unstarted(const std::string& cell_key, std::uint64_t seed, std::int64_t sweep,
                           const protocol::Verdict& verdict, const std::string& reason);
  void finish_run(RunId run, const protocol::Verdict& verdict, const std::string& reason,
                  int exit_code, const std::string& log_tail);

  /// Throws Error(kDatabase) where there is no such run: somebody replaced what is in the file.
  RunInfo run(RunId id) const;

  /// Moves what the log beside the file holds into the file, so that this alone is the whole
  /// database, wherever it is moved to. Where a reader is in the way, the next call does it.
  void checkpoint();
  /// Whether the path still names the file that is open. Throws Error(kIo) where the system cannot
  /// tell.
  bool is_in_place() const;
  /// Writes all that is stored to a new database, also where the file was deleted. Throws
  /// Error(kDatabase).
  void save_copy(const std::filesystem::path& path);
  /// Runs `work` in one transaction: for results/ingest, which stores what a run recorded.
  void write(const std::function<void(SQLite::Database&)>& work);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tersor::results
