// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

#include "compressors/host/blocks.hpp"
#include "compressors/host/parallel.hpp"

/// Rows, scopes or values dealt out to threads in equal shares, for work that needs scratch of its
/// own: a share has a slot.
namespace tersor::compressors {

inline constexpr std::int64_t kMostShares = 64;

/// Shares of a message of `elements` whose work has `units` parts: 1 where a second thread is not
/// worth it.
inline std::int64_t share_count(std::int64_t units, std::int64_t elements, int threads) {
  if (threads <= 1 || elements < kParallelElements) return 1;
  return std::clamp<std::int64_t>(units, 1, std::min<std::int64_t>(threads, kMostShares));
}

/// Calls visit(first, last, slot) for the units [first, last) of each share, slot < share_count().
template <class Visit>
void for_each_share(std::int64_t units, std::int64_t elements, int threads, Visit&& visit) {
  const std::int64_t shares = share_count(units, elements, threads);
  if (shares == 1) return visit(std::int64_t{0}, units, std::int64_t{0});
  parallel_for(threads, shares, [&](std::int64_t slot) {
    visit(units * slot / shares, units * (slot + 1) / shares, slot);
  });
}

}  // namespace tersor::compressors
