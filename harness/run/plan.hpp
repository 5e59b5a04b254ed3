// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/feasibility/resources.hpp"
#include "harness/hardware/machine.hpp"
#include "harness/matrix/matrix.hpp"
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
  std::uint32_t warning = 0;     ///< in Plan::reasons, where its text is empty: none
};

/// What will happen to every run of a matrix, and why.
struct Plan {
  std::vector<PlanEntry> entries;    ///< in running order
  std::vector<std::string> reasons;  ///< each once
  std::map<Action, std::size_t> counts;
  std::size_t unsuccessful = 0;                 ///< skipped because they failed before
  std::map<std::string, std::size_t> kinds;     ///< History::kind_of -> runs to do
  std::map<std::string, std::size_t> warnings;  ///< text -> number of runs to do that it is about

  const std::string& reason(const PlanEntry& entry) const { return reasons[entry.reason]; }
  const std::string& warning(const PlanEntry& entry) const { return reasons[entry.warning]; }
  std::size_t count(Action action) const;
};

/// Seconds for so many runs of each kind, by what is known; nothing where nothing is.
std::optional<double> estimate_seconds(const std::map<std::string, std::size_t>& kinds,
                                       const History& history);

struct PlanOptions {
  bool retry_failed = false;
};

Plan make_plan(const Matrix& matrix, const RunFilter& filter, const History& history,
               const Machine& machine, const Resources& resources, const PlanOptions& options);

}  // namespace tersor::harness
