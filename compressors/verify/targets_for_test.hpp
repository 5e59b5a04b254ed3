// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include <hwy/targets.h>

namespace tersor::compressors::testing {

/// Runs the rest of its scope with one of the compiled instruction sets.
class WithTarget {
 public:
  explicit WithTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~WithTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  WithTarget(const WithTarget&) = delete;
  WithTarget& operator=(const WithTarget&) = delete;
};

/// The compiled instruction sets that this machine has.
inline std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> out;
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    if ((target & (HWY_SCALAR | HWY_EMU128 | HWY_AVX2 | HWY_AVX3)) != 0) out.push_back(target);
  }
  return out;
}

}  // namespace tersor::compressors::testing
