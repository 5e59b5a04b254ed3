// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/registry.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/error.hpp"

namespace tersor::reports {
namespace {

std::vector<Item>& registered() {
  static std::vector<Item> list;
  return list;
}

}  // namespace

ItemRegistrar::ItemRegistrar(Item item) {
  for (const Item& known : registered())
    TERSOR_CHECK(known.id != item.id, "report item '" + item.id + "' is registered twice");
  registered().push_back(std::move(item));
}

std::vector<Item> items() {
  std::vector<Item> list = registered();
  std::sort(list.begin(), list.end(), [](const Item& a, const Item& b) {
    return std::tie(a.order, a.id) < std::tie(b.order, b.id);
  });
  return list;
}

}  // namespace tersor::reports
