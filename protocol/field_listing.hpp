// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tersor::protocol {

/// The fields of a cell for a terminal: name, values, default and meaning, two lines each.
std::string fields_text();
/// The whole of docs/cell-fields.md.
std::string fields_page();
nlohmann::ordered_json fields_json();

}  // namespace tersor::protocol
