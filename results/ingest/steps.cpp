// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/steps.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "common/number.hpp"

namespace tersor::results {
namespace {

void add(const protocol::Step& step, StepSeries& series) {
  series.steps.push_back(step.step);
  for (std::size_t i = 0; i < series.parts.size(); ++i)
    series.parts[i].push_back(static_cast<double>(step.ns.*protocol::kStepParts[i].time));
}

}  // namespace

StepSeries rank_times(const RankSpool& spool) {
  StepSeries times;
  times.rank = spool.rank;
  for (const protocol::Step& step : spool.steps) add(step, times);
  return times;
}

StepSeries slowest_times(const Spool& spool) {
  struct Slowest {
    std::int64_t ranks = 0;
    const protocol::Step* record = nullptr;
  };
  std::map<std::int64_t, Slowest> by_step;
  std::int64_t world = static_cast<std::int64_t>(spool.ranks.size());
  for (const RankSpool& rank : spool.ranks) {
    if (rank.start) world = std::max(world, rank.start->world);
    for (const protocol::Step& step : rank.steps) {
      Slowest& slowest = by_step[step.step];
      ++slowest.ranks;
      if (!slowest.record || step.ns.total > slowest.record->ns.total) slowest.record = &step;
    }
  }
  StepSeries times;
  for (const auto& [step, slowest] : by_step)
    if (slowest.ranks == world) add(*slowest.record, times);
  return times;
}

std::int64_t skipped_steps(const std::vector<protocol::Step>& steps, const std::string& warmup) {
  constexpr std::int64_t kMostFirstTouch = 5;
  const auto count = static_cast<std::int64_t>(steps.size());
  const std::int64_t first_touch = std::min(kMostFirstTouch, count / 10);
  const auto blank = warmup.find(' ');
  const std::int64_t before = parse_integer(std::string_view(warmup).substr(0, blank)).value_or(0);
  const bool is_epochs = blank != std::string::npos;
  const auto dense = std::count_if(steps.begin(), steps.end(), [&](const protocol::Step& step) {
    return (is_epochs ? step.epoch : step.step) < before;
  });
  return dense + first_touch < count ? dense + first_touch : first_touch;
}

}  // namespace tersor::results
