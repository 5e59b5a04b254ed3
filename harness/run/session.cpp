// SPDX-License-Identifier: Apache-2.0
#include "harness/run/session.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/log.hpp"
#include "common/shell_word.hpp"
#include "harness/matrix/cell_identity.hpp"
#include "harness/run/duration_text.hpp"
#include "harness/run/interrupt.hpp"
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
    const auto end = read_spool_end(folder, rank).record;
    if (!end || end->cause == Cause::kInterrupted || end->cause == Cause::kUnknown) return "";
    if (reason.empty() && end->verdict() == verdict)
      reason = end->reason.empty() ? to_string(end->status) : end->reason;
  }
  return reason;
}

}  // namespace

Session::Session(const RunOptions& options, RunLock& lock, fs::path worker, const Sweep& sweep,
                 const Machine& machine, const Resources& resources,
                 std::function<void(const std::string&)> say)
    : options_(options),
      lock_(lock),
      machine_(machine),
      resources_(resources),
      worker_(std::move(worker)),
      launcher_(find_launcher(options.launcher)),
      say_(std::move(say)),
      store_(lock.database(), [this](double seconds) { return wait_for_others(seconds); }) {
  if (!store_.is_in_place())
    throw Error(ErrorKind::kDatabase, lock.database().string() +
                                          ": was replaced while it was opened; run the command "
                                          "again");
  expect_in_place();
  sweep_ = store_.add_sweep(sweep.name, sweep.matrix_text);
}

bool Session::wait_for_others(double seconds) {
  constexpr double kQuiet = 10;
  constexpr double kAgain = 60;
  const bool is_stopping = InterruptGuard::signal() != 0;
  if (is_stopping && (seconds > kQuiet || InterruptGuard::count() > 1)) return false;
  if (seconds < said_at_seconds_) said_at_seconds_ = 0;  // another wait
  if (seconds > kQuiet && (said_at_seconds_ == 0 || seconds > said_at_seconds_ + kAgain)) {
    said_at_seconds_ = seconds;
    say_("waiting for another process that has been writing to " + lock_.database().string() +
         " for " + duration_text(seconds) + "; `fuser " + shell_word(lock_.database().string()) +
         "` names it");
  }
  return true;
}

std::vector<Session::Settled> Session::settle_unfinished() {
  std::vector<Settled> all;
  const std::string& stop = lock_.former_stop();
  for (const RunInfo& run : store_.unfinished_runs()) {
    expect_in_place();
    Settled settled{run,
                    {Status::kFailed, Cause::kInterrupted},
                    "interrupted: " + (stop.empty() ? "the harness died during the run" : stop)};
    const fs::path folder = lock_.folder().parent_path() / run.spool_dir;
    launcher_.end_orphans(folder);
    const Ingested found = ingest(run, folder);
    if (found.claimed == Verdict{}) {
      settled.verdict = {};
      settled.reason = "";
    } else if (const std::string reason =
                   found.claimed ? own_reason(folder, *found.claimed) : std::string();
               !reason.empty()) {
      settled.verdict = *found.claimed;
      settled.reason = with_reason(reason, "its harness had died");
    }
    settled.reason = with_reason(settled.reason, found.trouble);
    const bool is_ok = settled.verdict == Verdict{};
    store_.finish_run(run.id, settled.verdict, settled.reason,
                      is_ok ? protocol::WorkerExit::kOk : protocol::kUnknownExit,
                      log_tail(launcher_, folder, 64));
    all.push_back(settled);
  }
  store_.checkpoint();
  return all;
}

Session::Executed Session::execute(
    const RunSpec& run, int last_attempt, int order, const std::string& warning,
    const std::function<void(const Progress&, double)>& on_progress) {
  expect_in_place();
  store_.add_cell(run.key, to_json(run.cell), codec_facts(run.cell));
  Executed done;
  done.folder = new_folder(run.key, run.seed, last_attempt + 1);
  const RunInfo info = store_.begin_run(run.key, run.seed, sweep_, run.block, order, machine_.host,
                                        stored_path(done.folder).string());
  done.attempt = info.attempt;
  try {
    store_.checkpoint();
    write_job_file(done.folder / "cell.json", job_file(run, info));
    done.outcome = run_job(launcher_, {worker_, done.folder, run.cell.hardware, machine_.cores},
                           options_.limits, on_progress);
  } catch (const std::exception& error) {
    give_up_run(info, error.what());
    throw;
  }
  if (done.outcome.verdict == Verdict{}) done.outcome.reason = warning;
  done.quality = last_quality(done.folder);
  try {
    expect_in_place(done.folder);
  } catch (const Error& error) {
    if (lock_.current_folder().empty()) give_up_run(info, error.what());  // its spool is gone
    throw;
  }
  store(info, done.folder, done.outcome);
  store_.checkpoint();
  ++finished_;
  if (options_.drop_spools && done.outcome.verdict == Verdict{}) {
    std::error_code ignored;  // a folder that stays costs only space
    fs::remove_all(done.folder, ignored);
  }
  return done;
}

Session::Ingested Session::ingest(const RunInfo& info, const fs::path& folder) {
  try {
    return {results::ingest(store_, info.id, folder), "", Cause::kNone};
  } catch (const Error& error) {
    switch (error.kind()) {
      case ErrorKind::kData:
      case ErrorKind::kMissing: return {{}, error.what(), Cause::kDefect};
      case ErrorKind::kIo: return {{}, error.what(), Cause::kSystem};
      default: throw;
    }
  } catch (const std::bad_alloc&) {
    return {{}, folder.string() + ": no memory for its spools", Cause::kSystem};
  } catch (const std::exception& error) {
    return {{}, folder.string() + ": its spools cannot be stored: " + error.what(), Cause::kDefect};
  }
}

void Session::store(const RunInfo& info, const fs::path& folder, RunOutcome& outcome) {
  const Ingested found = ingest(info, folder);
  const bool was_ok = outcome.verdict == Verdict{};
  if (!found.trouble.empty()) {
    if (was_ok) outcome.verdict = {Status::kFailed, found.cause};
    outcome.reason = with_reason(outcome.reason, found.trouble);
  } else if (was_ok && found.claimed != Verdict{}) {
    outcome.verdict = found.claimed.value_or(Verdict{Status::kFailed, Cause::kDefect});
    outcome.reason = "all ranks exited with 0, but their spools say " +
                     std::string(found.claimed ? to_string(found.claimed->status) : "nothing");
  }
  store_.finish_run(info.id, outcome.verdict, outcome.reason, outcome.exit_code, outcome.log_tail);
}

void Session::give_up_run(const RunInfo& info, const std::string& why) noexcept {
  try {
    if (lock_.database_trouble().empty())
      store_.finish_run(info.id, {Status::kFailed, Cause::kInterrupted}, "interrupted: " + why,
                        protocol::kUnknownExit, "");
  } catch (const std::exception& error) {
    // The row stays `running`: the next sweep settles it with the reason in the lock's file.
    log_line(LogLevel::kWarning, error.what());
  }
}

void Session::expect_in_place(const fs::path& spool) {
  std::string trouble = lock_.database_trouble();
  if (!trouble.empty())
    throw Error(ErrorKind::kDatabase,
                lock_.database().string() + ": " + trouble + "; the sweep stops: " + rescue() +
                    (spool.empty() ? std::string()
                                   : "; the run that has just ended is in " + spool.string() +
                                         ", and the next sweep stores it"));
  if (trouble = lock_.folder_trouble(); !trouble.empty())
    throw Error(ErrorKind::kDatabase,
                lock_.folder().string() + ": " + trouble + "; the sweep stops: " + finished_text() +
                    " in " + lock_.database().string() + ", and the same command goes on");
}

std::string Session::finished_text() const {
  if (finished_ == 0) return "what was stored before is";
  return finished_ == 1 ? "the run that it finished is"
                        : "the " + std::to_string(finished_) + " runs that it finished are";
}

std::string Session::rescue() {
  const fs::path now = lock_.current_database();
  std::error_code ignored;
  try {
    if (!now.empty()) {
      // Where another file has the name, the log may be that one's; it was empty after each run.
      if (!fs::exists(fs::symlink_status(lock_.database(), ignored))) store_.checkpoint();
      return finished_text() + " in it, and --db " + shell_word(now.string()) + " goes on";
    }
    for (int copy = 1;; ++copy) {
      fs::path saved = lock_.database();
      saved += copy == 1 ? ".saved" : ".saved" + std::to_string(copy);
      if (fs::exists(fs::symlink_status(saved, ignored))) continue;
      create_file(saved, {});
      store_.save_copy(saved);
      return "all that was stored in it is saved in " + saved.string() +
             "; give that its old name, or go on with --db " + shell_word(saved.string());
    }
  } catch (const Error& error) {
    return finished_text() + " in it, and the spools in " + lock_.folder().string() + " (" +
           error.what() + ")";
  }
}

void Session::record_unstarted(const RunSpec& run, const Verdict& verdict,
                               const std::string& reason) {
  expect_in_place();
  store_.add_cell(run.key, to_json(run.cell), codec_facts(run.cell));
  store_.record_unstarted(run.key, run.seed, sweep_, verdict, reason);
}

fs::path Session::new_folder(const std::string& cell_key, std::uint64_t seed, int attempt) {
  const std::string plain = cell_key + "-" + std::to_string(seed) + "-" + std::to_string(attempt);
  constexpr mode_t kOfOwner = 0755;
  const int runs = lock_.folder_descriptor();
  // One of that name is of another database that was here before, and is left alone; an empty one
  // is what a kill before the run began leaves.
  for (int copy = 1;; ++copy) {
    const std::string name = copy == 1 ? plain : plain + "." + std::to_string(copy);
    ::unlinkat(runs, name.c_str(), AT_REMOVEDIR);
    if (::mkdirat(runs, name.c_str(), kOfOwner) == 0) return lock_.folder() / name;
    if (errno != EEXIST)
      throw Error(ErrorKind::kIo, (lock_.folder() / name).string() +
                                      ": cannot be made: " + std::strerror(errno) +
                                      "; its disk must have room and be writable");
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
