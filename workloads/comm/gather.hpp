// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <type_traits>
#include <vector>

#include "workloads/comm/collective.hpp"

namespace tersor::workloads {

/// Control traffic: the values of each local rank, as many for one as for the other and one rank's
/// behind another's, to those of all ranks.
template <typename Value>
std::vector<Value> gather(Collective& group, std::span<const Value> locals) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const auto own = static_cast<std::size_t>(group.local_ranks());
  const auto ranks = static_cast<std::size_t>(group.ranks());
  const std::size_t each = locals.size() / own;
  std::vector<Value> all(each * ranks);
  if (each == 0) return all;
  std::vector<ConstBuffer> payloads;
  for (std::size_t l = 0; l < own; ++l)
    payloads.emplace_back(std::as_bytes(locals.subspan(l * each, each)));
  group.all_gather(payloads, std::vector<std::size_t>(ranks, each * sizeof(Value)),
                   std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace tersor::workloads
