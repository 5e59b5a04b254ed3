// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/shell_word.hpp"
#include "harness/hardware/machine.hpp"
#include "harness/hardware/profile.hpp"
#include "harness/matrix/matrix.hpp"
#include "harness/matrix/run_filter.hpp"
#include "harness/run/console.hpp"
#include "harness/run/duration_text.hpp"
#include "harness/run/history.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/plan.hpp"
#include "harness/run/run_lock.hpp"
#include "harness/run/session.hpp"
#include "protocol/exit_code.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;
using protocol::Cause;
using protocol::ProgramExit;
using protocol::Status;

/// One `tersor run`, from plan to summary.
class Runner {
 public:
  explicit Runner(const RunOptions& options)
      : options_(options),
        text_(Matrix::open(options.matrix)),
        matrix_(text_, load_profiles(options.profiles), options.allow_many),
        filter_(options.filters),
        machine_(probe_machine()),
        resources_(find_resources(options.data, options.weights)) {}

  int run() {
    check_filter();
    check_database();
    if (options_.is_dry_run) {
      History history(options_.database);
      const Plan plan = make(history);
      print_plan(plan, history, true);
      return exit_status(plan.unsuccessful, plan.count(Action::kInfeasible));
    }
    const fs::path worker = find_worker();
    InterruptGuard guard;
    RunLock lock(options_.database);
    try {
      return sweep(lock, worker);
    } catch (const std::exception& error) {
      lock.note_stop(error.what());
      if (InterruptGuard::signal() == 0) throw;
      console_.line(error.what());
      return interrupted();
    }
  }

 private:
  int sweep(RunLock& lock, const fs::path& worker) {
    Session session(options_, lock, worker, {matrix_.name(), text_.text()}, machine_, resources_,
                    [this](const std::string& text) { console_.line(text); });
    settle(session);
    History history(options_.database);
    const Plan plan = make(history);
    print_plan(plan, history, false);
    for (const PlanEntry& entry : plan.entries) {
      if (InterruptGuard::signal() != 0) break;
      if (entry.action == Action::kInfeasible)
        session.record_unstarted(matrix_.at(entry.index), {Status::kInfeasible, Cause::kRefused},
                                 plan.reason(entry));
    }
    execute(session, plan, history);
    return summary(plan);
  }

  int interrupted() {
    console_.line("interrupted: the same command goes on where it stopped");
    return ProgramExit::kInterrupted;
  }

  void check_filter() const {
    for (std::size_t index = 0; index < matrix_.size(); ++index)
      if (filter_.matches(matrix_.at(index))) return;
    throw Error(ErrorKind::kUsage, "--filter leaves none of the " + std::to_string(matrix_.size()) +
                                       " runs of the matrix");
  }

  /// Says what is wrong with an existing file before anything is made beside it.
  void check_database() const {
    std::error_code ignored;
    if (fs::exists(options_.database, ignored) && !fs::is_empty(options_.database, ignored))
      (void)History(options_.database);
  }

  Plan make(const History& history) const {
    return make_plan(matrix_, filter_, history, machine_, resources_, {options_.retry_failed});
  }

  void settle(Session& session) {
    for (const auto& [run, verdict, reason] : session.settle_unfinished())
      console_.line("settled  " + run.cell_key + " seed " + std::to_string(run.seed) + " attempt " +
                    std::to_string(run.attempt) + ", which a harness had left running: " +
                    std::string(to_string(verdict.status)) +
                    (reason.empty() ? "" : " (" + reason + ")"));
  }

  void print_plan(const Plan& plan, const History& history, bool is_complete) {
    std::string head = matrix_.name() + ": " + std::to_string(matrix_.size()) +
                       (matrix_.size() == 1 ? " run, " : " runs, ") +
                       std::to_string(plan.count(Action::kRun)) + " to do, " +
                       std::to_string(plan.count(Action::kSkip)) + " in the database";
    if (const auto n = plan.count(Action::kInfeasible))
      head += ", " + std::to_string(n) + " infeasible";
    if (const auto n = plan.count(Action::kFilteredOut))
      head += ", " + std::to_string(n) + " filtered out";
    const auto estimate = estimate_seconds(plan.kinds, history);
    if (plan.count(Action::kRun) > 0)
      head += estimate ? "; about " + duration_text(*estimate) + " by earlier runs"
                       : "; no earlier run tells how long they take";
    console_.line(head);
    if (options_.messages_every > 0 && plan.count(Action::kRun) == 0)
      console_.line("no messages are written: no run is due (another --db runs them again)");
    for (const auto& [warning, runs] : plan.warnings)
      console_.line("warning: " + warning + " (" + std::to_string(runs) + " runs)");
    print_entries(plan, is_complete);
  }

  /// Runs of one long reason stand together below it; all others in running order, each with its
  /// reason.
  void print_entries(const Plan& plan, bool is_complete) {
    constexpr std::size_t kMostLines = 200;
    constexpr std::size_t kLongReason = 60;
    std::map<std::pair<Action, std::uint32_t>, std::vector<const PlanEntry*>> alike;
    for (const PlanEntry& entry : plan.entries)
      if (plan.reason(entry).size() > kLongReason)
        alike[{entry.action, entry.reason}].push_back(&entry);
    std::size_t lines = 0;
    const auto line = [&](const std::string& text) {
      if (is_complete || ++lines <= kMostLines) console_.line(text);
    };
    for (const PlanEntry& entry : plan.entries) {
      if (!is_complete && entry.action != Action::kSkip && entry.action != Action::kInfeasible)
        continue;
      std::string name(to_string(entry.action));
      name.resize(std::max<std::size_t>(name.size(), 10), ' ');
      const auto group = alike.find({entry.action, entry.reason});
      if (group == alike.end() || group->second.size() == 1) {
        line(name + "  " + matrix_.at(entry.index).label + ": " + plan.reason(entry));
      } else if (group->second.front() == &entry) {
        line(name + "  " + std::to_string(group->second.size()) + " runs: " + plan.reason(entry));
        for (const PlanEntry* one : group->second)
          line("              " + matrix_.at(one->index).label);
      }
    }
    if (lines > kMostLines)
      console_.line("... and " + std::to_string(lines - kMostLines) +
                    " more that are not run; --dry-run lists them all");
  }

  void execute(Session& session, const Plan& plan, History& history) {
    const std::size_t due = plan.count(Action::kRun);
    std::size_t number = 0;
    std::string stopped_by;
    ahead_ = plan.kinds;
    for (const PlanEntry& entry : plan.entries) {
      if (entry.action != Action::kRun) continue;
      if (InterruptGuard::signal() != 0) return;
      const RunSpec run = matrix_.at(entry.index);
      if (!stopped_by.empty()) {
        session.record_unstarted(run, {Status::kSkipped, Cause::kFailFast},
                                 "--fail-fast: not started after " + stopped_by);
        ++skipped_;
        continue;
      }
      ++number;
      std::string head = "[";
      head.append(std::to_string(number)).append("/").append(std::to_string(due)).append("]");
      const bool is_ok = execute_one(session, plan, entry, run, history, head, due - number);
      if (!is_ok && options_.fail_fast && InterruptGuard::signal() == 0) stopped_by = run.label;
    }
  }

  bool execute_one(Session& session, const Plan& plan, const PlanEntry& entry, const RunSpec& run,
                   History& history, const std::string& head, std::size_t after) {
    const auto expected = history.seconds(run.key, run.cell);
    const auto* past = history.find(run.key, run.seed);
    --ahead_.at(History::kind_of(run.cell));
    const auto to_go = [&](double seconds, const std::optional<double>& one) {
      auto rest = estimate_seconds(ahead_, history);
      if (!rest && one) rest = *one * static_cast<double>(after);
      return rest && one ? std::optional(std::max(0.0, *one - seconds) + *rest) : std::nullopt;
    };
    const auto done = session.execute(
        run, past ? past->attempt : 0, static_cast<int>(started_++), plan.warning(entry),
        [&](const Progress& progress, double seconds) {
          auto one = expected;
          if (progress.steps > 0 && progress.step > 0)
            one =
                seconds * static_cast<double>(progress.steps) / static_cast<double>(progress.step);
          console_.live(head + "  " + run.label, progress, seconds, to_go(seconds, one));
        });
    const RunOutcome& outcome = done.outcome;
    const Status status = outcome.verdict.status;
    const bool is_ok = status == Status::kOk;
    ++statuses_[status];
    if (is_ok) history.add_seconds(run.key, run.cell, outcome.seconds);
    std::string line = head + "  " + std::string(to_string(status));
    line += "  " + duration_text(outcome.seconds) + "  " + run.label;
    if (!done.quality.empty()) line += "  " + done.quality;
    if (plan.reason(entry) != "new") line += "  (" + plan.reason(entry) + ")";
    if (!outcome.reason.empty()) line += "  " + outcome.reason;
    if (after > 0 && InterruptGuard::signal() == 0)
      line += end_text(estimate_seconds(ahead_, history));
    console_.line(line);
    if (!is_ok && InterruptGuard::signal() == 0) {
      print_log(outcome.log_tail);
      console_.line("    log and spool: " + done.folder.string());
    }
    if (!outcome.why_stop.empty())
      throw Error(ErrorKind::kIo,
                  outcome.why_stop + "; the sweep stops: make room, and the same command goes on");
    return is_ok;
  }

  /// The last lines, indented; the whole tail is in the database.
  void print_log(const std::string& tail) {
    constexpr int kLines = 8;
    std::size_t begin = tail.size();
    for (int line = 0; line <= kLines && begin != std::string::npos && begin > 0; ++line)
      begin = tail.rfind('\n', begin - 1);
    begin = begin == std::string::npos || begin == 0 ? 0 : begin + 1;
    while (begin < tail.size()) {
      const auto end = std::min(tail.find('\n', begin), tail.size());
      console_.line("    | " + tail.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  int summary(const Plan& plan) {
    const std::size_t ok_before = plan.count(Action::kSkip) - plan.unsuccessful;
    const std::size_t ok = statuses_[Status::kOk] + ok_before;
    std::string text = matrix_.name() + ": " + std::to_string(ok) + " ok";
    if (ok_before > 0) text += " (" + std::to_string(ok_before) + " before)";
    std::size_t bad = plan.unsuccessful;
    for (const auto& [status, count] : statuses_) {
      if (status == Status::kOk || count == 0) continue;
      text += ", " + std::to_string(count) + " " + std::string(to_string(status));
      bad += count;
    }
    if (plan.unsuccessful > 0) text += ", " + std::to_string(plan.unsuccessful) + " failed before";
    if (skipped_ > 0) text += ", " + std::to_string(skipped_) + " skipped";
    const std::size_t infeasible = plan.count(Action::kInfeasible);
    if (infeasible > 0) text += ", " + std::to_string(infeasible) + " infeasible";
    console_.line(text);
    if (InterruptGuard::signal() != 0) return interrupted();
    if (ok > 0)
      console_.line("next: tersor report --db " + shell_word(options_.database.string()) +
                    " --out report");
    return exit_status(bad, infeasible);
  }

  static int exit_status(std::size_t failed, std::size_t infeasible) {
    return failed > 0       ? ProgramExit::kBadNews
           : infeasible > 0 ? ProgramExit::kInfeasible
                            : ProgramExit::kOk;
  }

  RunOptions options_;
  Console console_;
  JsonText text_;
  Matrix matrix_;
  RunFilter filter_;
  Machine machine_;
  Resources resources_;
  std::map<Status, std::size_t> statuses_;
  std::map<std::string, std::size_t> ahead_;  ///< kind -> runs not started yet
  std::size_t started_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace

int run_matrix(const RunOptions& options) {
  try {
    return Runner(options).run();
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorKind::kIo, error.path1().string() + ": " + error.code().message());
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::kIo, std::string("the system refuses: ") + error.what());
  }
}

}  // namespace tersor::harness
