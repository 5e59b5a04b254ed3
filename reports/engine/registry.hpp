// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "reports/engine/context.hpp"
#include "reports/engine/document.hpp"

namespace tersor::reports {

/// One table or figure of the report: a folder reports/tables/ID or reports/figures/ID with its
/// query.sql, its layout and a README.
struct Item {
  int order = 0;   ///< place in the report
  std::string id;  ///< the folder's name
  std::function<Section(Context&)> build;
};

/// Put one object of this type at the end of the folder's .cpp; no list names the items.
class ItemRegistrar {
 public:
  explicit ItemRegistrar(Item item);
};

/// By order, then id.
std::vector<Item> items();

}  // namespace tersor::reports
