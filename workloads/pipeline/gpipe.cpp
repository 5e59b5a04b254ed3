// SPDX-License-Identifier: Apache-2.0
// GPipe (Huang et al. 2019): all forwards, then all backwards.
#include "workloads/pipeline/schedule.hpp"

namespace tersor::workloads {
namespace {

const PipelineScheduleRegistrar kRegistrar({
    .name = "gpipe",
    .summary = "all forwards, then all backwards",
    .actions =
        [](int, int, std::int64_t micro_batches) {
          std::vector<Action> actions;
          for (std::int64_t m = 0; m < micro_batches; ++m)
            actions.push_back({Action::Kind::kForward, m});
          for (std::int64_t m = 0; m < micro_batches; ++m)
            actions.push_back({Action::Kind::kBackward, m});
          return actions;
        },
});

}  // namespace
}  // namespace tersor::workloads
