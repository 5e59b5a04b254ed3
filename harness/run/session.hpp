// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/feasibility/resources.hpp"
#include "harness/hardware/machine.hpp"
#include "harness/matrix/matrix.hpp"
#include "harness/run/run_lock.hpp"
#include "harness/run/runner.hpp"
#include "protocol/job_file.hpp"
#include "results/db/store.hpp"

namespace tersor::harness {

/// Executes single runs into one database. At the begin and the end of each it looks whether the
/// database and its folder are still where they were; where not, nothing more is written (SQLite's
/// log belongs to the name, which may be another database's by now), and Error(kDatabase) says
/// where the finished runs are. The run in progress stays `running` then: the next sweep of that
/// database takes its spool up.
class Session {
 public:
  struct Sweep {
    std::string name;
    std::string matrix_text;
  };
  /// Opens the database of `lock` and notes the sweep. `say` is told what the user should know
  /// while it waits. The references must outlive it.
  Session(const RunOptions& options, RunLock& lock, std::filesystem::path worker,
          const Sweep& sweep, const Machine& machine, const Resources& resources,
          std::function<void(const std::string&)> say);

  /// A run that a dead harness left, settled from its spool.
  struct Settled {
    results::RunInfo run;
    protocol::Verdict verdict;
    std::string reason;
  };
  /// Settles all of them: complete spools are stored as what they say, the rest as failed and
  /// interrupted.
  std::vector<Settled> settle_unfinished();

  /// Runs it to its end and stores everything. `last_attempt`: 0 where there was none. `order`: its
  /// place among the runs of this session. `warning` becomes the reason of a run that is ok.
  struct Executed {
    RunOutcome outcome;
    int attempt = 0;
    std::filesystem::path folder;
    std::string quality;  ///< "accuracy 0.812", where it was evaluated
  };
  Executed execute(const RunSpec& run, int last_attempt, int order, const std::string& warning,
                   const std::function<void(const Progress&, double)>& on_progress);

  /// A row for a run that was not started.
  void record_unstarted(const RunSpec& run, const protocol::Verdict& verdict,
                        const std::string& reason);

 private:
  /// `spool`: of a run that has ended and is not stored yet; may be empty.
  void expect_in_place(const std::filesystem::path& spool = {});
  std::string finished_text() const;
  /// Makes what is stored safe once its file has another name or none; says where it is.
  std::string rescue();
  void give_up_run(const results::RunInfo& info, const std::string& why) noexcept;
  bool wait_for_others(double seconds);
  std::filesystem::path new_folder(const std::string& cell_key, std::uint64_t seed, int attempt);
  protocol::JobFile job_file(const RunSpec& run, const results::RunInfo& info) const;
  /// What is wrong with a run's spools is its own trouble, never an error of the sweep.
  struct Ingested {
    std::optional<protocol::Verdict> claimed;
    std::string trouble;
    protocol::Cause cause = protocol::Cause::kNone;
  };
  Ingested ingest(const results::RunInfo& info, const std::filesystem::path& folder);
  void store(const results::RunInfo& info, const std::filesystem::path& folder,
             RunOutcome& outcome);

  const RunOptions& options_;
  RunLock& lock_;
  const Machine& machine_;
  const Resources& resources_;
  std::filesystem::path worker_;
  const Launcher& launcher_;
  std::function<void(const std::string&)> say_;
  double said_at_seconds_ = 0;
  std::size_t finished_ = 0;
  results::Store store_;
  std::int64_t sweep_ = 0;
};

}  // namespace tersor::harness
