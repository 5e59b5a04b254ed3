// SPDX-License-Identifier: Apache-2.0
#include "harness/run/plan.hpp"

#include <unordered_map>
#include <utility>

#include "harness/feasibility/feasibility.hpp"

namespace tersor::harness {
namespace {

using protocol::Status;

/// Keeps each reason once: a large matrix has few.
class Reasons {
 public:
  explicit Reasons(std::vector<std::string>& texts) : texts_(texts) {}
  std::uint32_t add(const std::string& text) {
    const auto [found, is_new] = known_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return found->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> known_;
};

struct Decision {
  Action action = Action::kRun;
  std::string reason = "new";
  bool is_unsuccessful = false;
  std::string warning = {};
};

Decision decide(const History::Past* past, const PlanOptions& options) {
  if (!past) return {};
  const std::string attempt = "attempt " + std::to_string(past->attempt);
  const std::string status(to_string(past->status));
  const std::string what = status + (past->reason.empty() ? "" : ": " + past->reason);
  switch (past->status) {
    case Status::kOk: return {Action::kSkip, "ok in the database (" + attempt + ")"};
    case Status::kPlanned:
    case Status::kRunning:  // only seen by --dry-run: `run` settles them first
      return {Action::kRun, "again: " + attempt + " was left unfinished"};
    case Status::kSkipped:
    case Status::kInfeasible: return {Action::kRun, "was " + what};
    default: break;
  }
  if (past->cause == protocol::Cause::kInterrupted)
    return {Action::kRun, "again: " + attempt + " was " + past->reason};
  if (options.retry_failed) return {Action::kRun, "--retry-failed: " + attempt + " " + what};
  return {Action::kSkip, attempt + " " + what + "; --retry-failed runs it again", true};
}

}  // namespace

std::string_view to_string(Action action) {
  switch (action) {
    case Action::kRun: return "run";
    case Action::kSkip: return "skip";
    case Action::kFilteredOut: return "filter";
    case Action::kInfeasible: return to_string(Status::kInfeasible);
  }
  return "run";
}

std::size_t Plan::count(Action action) const {
  const auto found = counts.find(action);
  return found == counts.end() ? 0 : found->second;
}

Plan make_plan(const Matrix& matrix, const RunFilter& filter, const History& history,
               const Machine& machine, const Resources& resources, const PlanOptions& options) {
  Plan plan;
  Reasons reasons(plan.reasons);
  for (std::size_t index = 0; index < matrix.size(); ++index) {
    const RunSpec run = matrix.at(index);
    Decision decision;
    if (!filter.matches(run)) {
      decision = {Action::kFilteredOut, "filtered out by --filter"};
    } else {
      decision = decide(history.find(run.key, run.seed), options);
      if (decision.action == Action::kRun) {
        const Feasibility feasible = judge_cell(run.cell, machine, resources);
        if (!feasible.why_not.empty()) {
          decision = {Action::kInfeasible, feasible.why_not};
        } else {
          decision.warning = feasible.warning;
          if (!feasible.warning.empty())
            ++plan.warnings[run.cell.hardware.name + " " + feasible.warning];
          ++plan.kinds[History::kind_of(run.cell)];
        }
      }
    }
    plan.entries.push_back({index, decision.action, decision.is_unsuccessful,
                            reasons.add(decision.reason), reasons.add(decision.warning)});
    ++plan.counts[decision.action];
    plan.unsuccessful += decision.is_unsuccessful ? 1 : 0;
  }
  return plan;
}

std::optional<double> estimate_seconds(const std::map<std::string, std::size_t>& kinds,
                                       const History& history) {
  double sum = 0;
  for (const auto& [kind, runs] : kinds) {
    const auto seconds = history.kind_seconds(kind);
    if (!seconds) return std::nullopt;
    sum += *seconds * static_cast<double>(runs);
  }
  return sum;
}

}  // namespace tersor::harness
