// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.hpp"
#include "reports/engine/context.hpp"
#include "reports/engine/document.hpp"

namespace tersor::reports {

/// One table or figure of the report: a folder reports/tables/ID or reports/figures/ID with its
/// query.sql, its layout and a README.
struct Item {
  static constexpr std::string_view kKind = "report item";
  int order = 0;     ///< position in the report, ascending
  std::string name;  ///< the folder's
  std::function<Section(Context&)> build;
};

/// Put one object of this type at the end of the folder's .cpp; no list names the items.
using ItemRegistrar = Registrar<Item>;

/// By order, then name.
std::vector<Item> items();

}  // namespace tersor::reports
