// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/cell.hpp"
#include "protocol/field_values.hpp"

namespace tersor::protocol {

/// A line of protocol/cell_fields.def.
struct Field {
  std::string object;  ///< object of the cell's JSON that holds it; empty: the cell itself
  std::string key;     ///< in that object
  std::string path;    ///< "dropout", "hardware.tp", "compressor.tp.backward": --filter's name
  std::string column;  ///< of the database's table `cell`
  FieldType type = FieldType::kText;
  Values values;
  std::string unit;   ///< empty: none
  std::string since;  ///< version of tersor that brought it
  std::string meaning;
  nlohmann::json initial;                ///< the default
  std::optional<nlohmann::json> absent;  ///< what cells had before it existed

  std::function<nlohmann::json(const Cell&)> get;
  /// Takes a value that check() gave.
  std::function<void(Cell&, const nlohmann::json&)> set;

  /// The value in its canonical form. Throws Error(kUsage) on a wrong type or a value that the
  /// field may not have.
  nlohmann::json check(const nlohmann::json& given) const;
};

/// All fields, in the table's order.
const std::vector<Field>& fields();

/// The keys of a cell's JSON, in the table's order: the axes of a matrix file but for the seed.
const std::vector<std::string>& cell_keys();

/// The value of every field, in the shape of the cell's JSON.
nlohmann::json all_values(const Cell& cell);

}  // namespace tersor::protocol
