// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>

#include "results/db/store.hpp"
#include "results/ingest/spool.hpp"

namespace tersor::results {

/// Throws Error(kData) where a spool belongs to another cell, seed or attempt than `run`, or its
/// ranks disagree on the number of ranks.
void check_spool(const Spool& spool, const RunInfo& run);

/// What a whole run of a cell records.
struct PlannedRecords {
  bool has_eval_on = false;   ///< evaluations with compression, after each epoch
  bool has_eval_off = false;  ///< without
  bool has_traffic = false;   ///< of each rank
};

/// Throws Error(kData) where every rank of the spool says `ok`, but steps, evaluations or summaries
/// are missing, or ranks disagree on the steps. Another end may come at any time.
void check_complete(const Spool& spool, const PlannedRecords& planned);

/// Reads every rankN.jsonl of the folder and stores it under the run; doing it twice changes
/// nothing. A torn last line is dropped. Any other line that is wrong, a spool that lacks something
/// and values that the database refuses throw Error(kData) with file, line and column, and nothing
/// is stored: whatever a spool holds is the fault of its run alone. Returns claimed_verdict().
std::optional<protocol::Verdict> ingest(Store& store, RunId run,
                                        const std::filesystem::path& spool_dir);

}  // namespace tersor::results
