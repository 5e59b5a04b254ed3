// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/feasibility/resources.hpp"
#include "harness/hardware/machine.hpp"
#include "harness/matrix/matrix.hpp"
#include "harness/run/runner.hpp"
#include "protocol/job_file.hpp"
#include "results/db/store.hpp"

namespace tersor::harness {

/// Executes single runs into one database; the caller holds the RunLock.
class Session {
 public:
  /// Opens (or makes) the database and notes the sweep. The references must outlive it.
  Session(const RunOptions& options, std::filesystem::path worker, const std::string& sweep_name,
          const std::string& matrix_text, const Machine& machine, const Resources& resources);

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
  /// place among the runs of this session.
  struct Executed {
    RunOutcome outcome;
    int attempt = 0;
    std::filesystem::path folder;
    std::string quality;  ///< "accuracy 0.812", where it was evaluated
  };
  Executed execute(const RunSpec& run, int last_attempt, int order,
                   const std::function<void(const Progress&, double)>& on_progress);

  /// A row for a run that was not started.
  void record_unstarted(const RunSpec& run, const protocol::Verdict& verdict,
                        const std::string& reason);

 private:
  std::filesystem::path new_folder(const std::string& cell_key, std::uint64_t seed, int attempt);
  protocol::JobFile job_file(const RunSpec& run, const results::RunInfo& info) const;
  void store(const results::RunInfo& info, const std::filesystem::path& folder,
             RunOutcome& outcome);

  const RunOptions& options_;
  const Machine& machine_;
  const Resources& resources_;
  std::filesystem::path runs_folder_;
  std::filesystem::path worker_;
  const Launcher& launcher_;
  results::Store store_;
  std::int64_t sweep_ = 0;
};

}  // namespace tersor::harness
