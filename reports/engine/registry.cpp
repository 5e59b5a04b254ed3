// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/registry.hpp"

#include <algorithm>
#include <tuple>

namespace tersor::reports {

std::vector<Item> items() {
  std::vector<Item> list;
  for (const auto& [name, item] : Registry<Item>::instance().entries()) list.push_back(item);
  std::sort(list.begin(), list.end(), [](const Item& a, const Item& b) {
    return std::tie(a.order, a.name) < std::tie(b.order, b.name);
  });
  return list;
}

}  // namespace tersor::reports
