// SPDX-License-Identifier: Apache-2.0
// 1F1B without interleaving (PipeDream-Flush, Narayanan et al. 2021): a stage has at most as many
// micro-batches in flight as there are stages from it to the end.
#include <algorithm>

#include "workloads/pipeline/schedule.hpp"

namespace tersor::workloads {
namespace {

const PipelineScheduleRegistrar kRegistrar({
    .name = "1f1b",
    .summary = "a forward for each backward, once the pipeline is full",
    .actions =
        [](int stage, int stages, std::int64_t micro_batches) {
          const auto ahead = std::min<std::int64_t>(stages - stage - 1, micro_batches);
          std::vector<Action> actions;
          for (std::int64_t m = 0; m < ahead; ++m) actions.push_back({Action::Kind::kForward, m});
          for (std::int64_t m = 0; m < micro_batches; ++m) {
            if (m + ahead < micro_batches) actions.push_back({Action::Kind::kForward, m + ahead});
            actions.push_back({Action::Kind::kBackward, m});
          }
          return actions;
        },
});

}  // namespace
}  // namespace tersor::workloads
