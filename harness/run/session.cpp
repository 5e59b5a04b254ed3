// SPDX-License-Identifier: Apache-2.0
#include "harness/run/session.hpp"

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "harness/feasibility/feasibility.hpp"
#include "harness/matrix/cell_identity.hpp"
#include "harness/run/run_lock.hpp"
#include "protocol/exit_code.hpp"
#include "results/ingest/ingest.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;
using protocol::Cause;
using protocol::Status;
using protocol::Verdict;
using results::RunInfo;

/// Spool folders are stored relative to the database's folder, so that both can move together.
fs::path stored_path(const fs::path& folder) {
  return folder.parent_path().filename() / folder.filename();
}

std::string with_reason(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + "; " + second;
}

/// What the ranks of a dead harness say of their end: empty where one was told to stop or came to
/// no end, since the death explains that; else the reason of the first that ended so.
std::string own_reason(const fs::path& folder, const Verdict& verdict) {
  std::string reason;
  std::error_code ignored;
  for (int rank = 0; fs::exists(folder / ("rank" + std::to_string(rank) + ".jsonl"), ignored);
       ++rank) {
    const auto end = read_spool_end(folder, rank);
    if (!end || end->cause == Cause::kInterrupted || end->cause == Cause::kUnknown) return "";
    if (reason.empty() && end->verdict() == verdict)
      reason = end->reason.empty() ? to_string(end->status) : end->reason;
  }
  return reason;
}

}  // namespace

Session::Session(const RunOptions& options, fs::path worker, const std::string& sweep_name,
                 const std::string& matrix_text, const Machine& machine, const Resources& resources)
    : options_(options),
      machine_(machine),
      resources_(resources),
      runs_folder_(runs_folder(options.database)),
      worker_(std::move(worker)),
      launcher_(find_launcher(options.launcher)),
      store_(options.database),
      sweep_(store_.add_sweep(sweep_name, matrix_text)) {}

std::vector<Session::Settled> Session::settle_unfinished() {
  std::vector<Settled> all;
  for (const RunInfo& run : store_.unfinished_runs()) {
    Settled settled{run,
                    {Status::kFailed, Cause::kInterrupted},
                    "interrupted: the harness died during the run"};
    const fs::path folder = runs_folder_.parent_path() / run.spool_dir;
    launcher_.end_orphans(folder);
    try {
      if (const auto claimed = results::ingest(store_, run.id, folder)) {
        const std::string reason = own_reason(folder, *claimed);
        if (*claimed == Verdict{}) {
          settled.verdict = {};
          settled.reason = "";
        } else if (!reason.empty()) {
          settled.verdict = *claimed;
          settled.reason = with_reason(reason, "its harness had died");
        }
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kDatabase) throw;
      settled.reason = with_reason(settled.reason, error.what());
    }
    const bool is_ok = settled.verdict == Verdict{};
    store_.finish_run(run.id, settled.verdict, settled.reason,
                      is_ok ? protocol::WorkerExit::kOk : protocol::kUnknownExit,
                      log_tail(launcher_, folder, 64));
    all.push_back(settled);
  }
  return all;
}

Session::Executed Session::execute(
    const RunSpec& run, int last_attempt, int order,
    const std::function<void(const Progress&, double)>& on_progress) {
  store_.add_cell(run.key, to_json(run.cell), codec_facts(run.cell));
  Executed done;
  done.folder = new_folder(run.key, run.seed, last_attempt + 1);
  const RunInfo info = store_.begin_run(run.key, run.seed, sweep_, run.block, order, machine_.host,
                                        stored_path(done.folder).string());
  done.attempt = info.attempt;
  write_job_file(done.folder / "cell.json", job_file(run, info));
  done.outcome = run_job(launcher_, {worker_, done.folder, run.cell.hardware, machine_.cores},
                         options_.limits, on_progress);
  const Feasibility hardware = judge_hardware(run.cell.hardware, machine_);
  if (done.outcome.verdict == Verdict{}) done.outcome.reason = hardware.warning;
  done.quality = last_quality(done.folder);
  store(info, done.folder, done.outcome);
  if (options_.drop_spools && done.outcome.verdict == Verdict{}) {
    std::error_code ignored;  // a folder that stays costs only space
    fs::remove_all(done.folder, ignored);
  }
  return done;
}

void Session::store(const RunInfo& info, const fs::path& folder, RunOutcome& outcome) {
  try {
    const auto claimed = results::ingest(store_, info.id, folder);
    if (outcome.verdict == Verdict{} && claimed != Verdict{}) {
      outcome.verdict = claimed.value_or(Verdict{Status::kFailed, Cause::kDefect});
      outcome.reason = "all ranks exited with 0, but their spools say " +
                       std::string(claimed ? to_string(claimed->status) : "nothing");
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kData && error.kind() != ErrorKind::kMissing) throw;
    if (outcome.verdict == Verdict{}) outcome.verdict = {Status::kFailed, Cause::kDefect};
    outcome.reason = with_reason(outcome.reason, error.what());
  }
  store_.finish_run(info.id, outcome.verdict, outcome.reason, outcome.exit_code, outcome.log_tail);
}

void Session::record_unstarted(const RunSpec& run, const Verdict& verdict,
                               const std::string& reason) {
  store_.add_cell(run.key, to_json(run.cell), codec_facts(run.cell));
  store_.record_unstarted(run.key, run.seed, sweep_, verdict, reason);
}

fs::path Session::new_folder(const std::string& cell_key, std::uint64_t seed, int attempt) {
  const std::string name = cell_key + "-" + std::to_string(seed) + "-" + std::to_string(attempt);
  std::error_code error;
  // A folder of that name is of another database that was here before: it is left alone.
  for (int copy = 1;; ++copy) {
    const fs::path folder = runs_folder_ / (copy == 1 ? name : name + "." + std::to_string(copy));
    if (fs::create_directory(folder, error)) return folder;
    if (error)
      throw Error(ErrorKind::kIo, folder.string() + ": cannot be made: " + error.message());
  }
}

protocol::JobFile Session::job_file(const RunSpec& run, const RunInfo& info) const {
  const WeightFiles files = find_weights(run.cell.model.name, resources_);
  return {.cell_key = info.cell_key,
          .seed = info.seed,
          .attempt = info.attempt,
          .config = run.cell,
          .data_root = resources_.data_root.string(),
          .weights = files.weights.string(),
          .vocabulary = files.vocabulary.string(),
          .has_progress = true,
          .error_every = options_.error_every,
          .messages_every = options_.messages_every};
}

}  // namespace tersor::harness
