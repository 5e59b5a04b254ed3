// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/hardware/machine.hpp"
#include "harness/matrix/matrix.hpp"
#include "harness/matrix/resources.hpp"
#include "harness/matrix/run_filter.hpp"
#include "harness/run/history.hpp"

namespace tersor::harness {

enum class Action : std::uint8_t { kRun, kSkip, kFilteredOut, kInfeasible };
/// "run", "skip", "filter", "infeasible".
std::string_view to_string(Action action);

struct PlanEntry {
  std::size_t index = 0;  ///< in the matrix
  Action action = Action::kRun;
  bool is_unsuccessful = false;  ///< kSkip: it failed before
  std::uint32_t reason = 0;      ///< in Plan::reasons
};

/// What will happen to every run of a matrix, and why.
struct Plan {
  std::vector<PlanEntry> entries;    ///< in running order
  std::vector<std::string> reasons;  ///< each once
  std::map<Action, std::size_t> counts;
  std::size_t unsuccessful = 0;  ///< skipped because they failed before
  std::optional<double>
      estimate_seconds;  ///< for the runs to do; nothing: no run like them is known
  std::map<std::string, std::size_t> warnings;  ///< text -> number of runs to do that it is about

  const std::string& reason(const PlanEntry& entry) const { return reasons[entry.reason]; }
  std::size_t count(Action action) const;
};

struct PlanOptions {
  bool retry_failed = false;
};

/// Throws Error(kUsage) where a filter leaves no run.
Plan make_plan(const Matrix& matrix, const RunFilter& filter, const History& history,
               const Machine& machine, const Resources& resources, const PlanOptions& options);

/// Reasons of runs that a signal or a dead harness cut off: they run again without being asked.
extern const char* const kInterruptedReason;
bool was_interrupted(const History::Past& past);

/// "1 min 20 s".
std::string duration_text(double seconds);

}  // namespace tersor::harness
