// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/scopes.hpp"

#include "common/error.hpp"

namespace tersor::compressors {

const std::vector<std::string>& scope_names() {
  static const std::vector<std::string> names{"tensor", "sample", "token", "channel", "group"};
  return names;
}

Scope parse_scope(std::string_view name) {
  const auto& names = scope_names();
  const auto found = std::find(names.begin(), names.end(), name);
  TERSOR_CHECK(found != names.end(), "scope '" + std::string(name) + "'");
  return static_cast<Scope>(found - names.begin());
}

}  // namespace tersor::compressors
