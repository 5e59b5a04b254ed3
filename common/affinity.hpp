// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

namespace tersor {

/// Cores that this process may run on, ascending; empty where the kernel does not say.
std::vector<int> allowed_cores();

/// Cores of one rank of this machine: `threads` of `cores`, from local_rank * threads on, round and
/// round; none twice. Launchers and workers that pin themselves use the same rule.
std::vector<int> cores_of_rank(std::span<const int> cores, int local_rank, int threads);

/// Pins the calling thread, and what it starts from now on; false where the kernel refuses.
bool pin_to_cores(std::span<const int> cores);

}  // namespace tersor
