// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "datasets/dataset.hpp"
#include "harness/feasibility/resources.hpp"
#include "harness/hardware/machine.hpp"
#include "protocol/cell.hpp"

namespace tersor::harness {

/// Whether something can run on this machine. The one place that decides it: for `tersor run`
/// before anything starts, and for `tersor doctor`.
struct Feasibility {
  std::string why_not;  ///< empty: it can
  std::string warning;  ///< it can, but its times are not worth much; empty: nothing to say
};

/// Whether ranks of this hardware can run here. Ranks beyond the cores share them, at most two
/// threads a core: that changes times, not results, so it is allowed with a warning.
Feasibility judge_hardware(const protocol::Hardware& hardware, const Machine& machine);

/// Why a data set cannot be loaded, and what to do; empty: it can.
std::string missing_data(const datasets::DatasetInfo& info, const Resources& resources);

/// Whether a cell can run here: hardware, splits of the model, stage, data, weights.
Feasibility judge_cell(const protocol::Cell& cell, const Machine& machine,
                       const Resources& resources);

}  // namespace tersor::harness
