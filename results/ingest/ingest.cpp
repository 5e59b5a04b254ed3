// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/ingest.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "common/error.hpp"
#include "results/ingest/spool_rows.hpp"

namespace tersor::results {

void check_spool(const Spool& spool, const RunInfo& run) {
  std::optional<std::int64_t> world;
  for (const RankSpool& rank : spool.ranks) {
    if (!rank.start) continue;
    const protocol::Start& start = *rank.start;
    const auto refuse = [&](const std::string& what) {
      throw Error(ErrorKind::kData, rank.file + ":1:1: " + what);
    };
    if (start.cell_key != run.cell_key && start.cell_key != run.former_key)
      refuse("belongs to cell " + start.cell_key + ", the run is of cell " + run.cell_key);
    if (start.seed != run.seed)
      refuse("has seed " + std::to_string(start.seed) + ", the run has seed " +
             std::to_string(run.seed));
    if (start.attempt != run.attempt)
      refuse("is of attempt " + std::to_string(start.attempt) + ", the run is attempt " +
             std::to_string(run.attempt));
    if (world && *world != start.world)
      refuse("says " + std::to_string(start.world) + " ranks, another rank says " +
             std::to_string(*world));
    world = start.world;
  }
}

void check_complete(const Spool& spool, const PlannedRecords& planned) {
  if (claimed_verdict(spool) != protocol::Verdict{}) return;
  const RankSpool& first = spool.ranks.front();
  for (const RankSpool& rank : spool.ranks) {
    const auto refuse = [&](const std::string& what) {
      throw Error(ErrorKind::kData,
                  rank.file + ":" + std::to_string(rank.records) + ":1: ends as ok, but " + what);
    };
    if (rank.steps.size() != first.steps.size())
      refuse("has " + std::to_string(rank.steps.size()) + " steps where rank " +
             std::to_string(first.rank) + " has " + std::to_string(first.steps.size()));
    if (!rank.memory) refuse("lacks its 'memory' record");
    if (planned.has_traffic && rank.traffic.empty()) refuse("lacks its 'traffic' records");
    if (rank.rank != 0) continue;
    if (rank.start->steps && *rank.start->steps != static_cast<std::int64_t>(rank.steps.size()))
      refuse("has " + std::to_string(rank.steps.size()) + " of the " +
             std::to_string(*rank.start->steps) + " steps that 'start' plans");
    const std::int64_t epochs = rank.steps.empty() ? 0 : rank.steps.back().epoch + 1;
    for (const auto& [inference, is_planned] :
         {std::pair("on", planned.has_eval_on), std::pair("off", planned.has_eval_off)}) {
      const auto found =
          std::count_if(rank.evals.begin(), rank.evals.end(), [&](const protocol::Eval& eval) {
            return eval.inference == inference && eval.epoch >= 1 && eval.epoch <= epochs;
          });
      if (is_planned && found < epochs)
        refuse("has " + std::to_string(found) + " evaluations with inference " + inference +
               " for " + std::to_string(epochs) + " epochs");
    }
  }
}

namespace {

PlannedRecords planned_records(SQLite::Database& db, RunId run) {
  SQLite::Statement find(db,
                         "SELECT coalesce(c.stage, ''), coalesce(c.inference, ''), "
                         "coalesce(c.tp, 1) FROM run r JOIN cell c ON c.id = r.cell_id "
                         "WHERE r.id = ?");
  find.bind(1, run);
  if (!find.executeStep()) return {};
  const bool is_finetuned = find.getColumn(0).getString() == "finetune";
  const std::string inference = find.getColumn(1).getString();
  return {.has_eval_on = is_finetuned && (inference == "on" || inference == "both"),
          .has_eval_off = is_finetuned && (inference == "off" || inference == "both"),
          .has_traffic = find.getColumn(2).getInt64() > 1};
}

/// What a value can be that passed every check and still does not fit its column.
bool is_of_the_value(const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  return code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_TOOBIG ||
         code == SQLITE_RANGE;
}

}  // namespace

std::optional<protocol::Verdict> ingest(Store& store, RunId run,
                                        const std::filesystem::path& spool_dir) {
  const RunInfo info = store.run(run);
  const Spool spool = read_spool(spool_dir);
  check_spool(spool, info);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kData, spool_dir.string() + ": cannot be stored: " + what);
  };
  store.write([&](SQLite::Database& db) {
    try {
      check_complete(spool, planned_records(db, run));
      store_spool(db, run, spool);
    } catch (const SQLite::Exception& error) {
      if (!is_of_the_value(error)) throw;
      refuse(error.what());
    } catch (const nlohmann::json::exception& error) {
      refuse(error.what());
    }
  });
  return claimed_verdict(spool);
}

}  // namespace tersor::results
