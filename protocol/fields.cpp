// SPDX-License-Identifier: Apache-2.0
#include "protocol/fields.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "common/error.hpp"

namespace tersor::protocol {
namespace {

using nlohmann::json;

constexpr double kMany = 1LL << 40;  // rows, steps
constexpr std::nullopt_t kNone = std::nullopt;

template <typename T>
constexpr FieldType type_of() {
  if constexpr (std::is_same_v<T, bool>) return FieldType::kFlag;
  if constexpr (std::is_integral_v<T>) return FieldType::kWhole;
  if constexpr (std::is_floating_point_v<T>) return FieldType::kReal;
  return FieldType::kText;
}

/// `tp` of `hardware` is column tp, its `name` is hardware; sites are compressor_tp_backward.
std::string column_of(const std::string& object, const std::string& key) {
  if (object.empty()) return key;
  if (key == "name") return object;
  if (object != "compressor") return key;
  std::string column = object + "_" + key;
  std::replace(column.begin(), column.end(), '.', '_');
  return column;
}

/// What all kinds of field have in common.
Field named(std::string object, std::string key, const char* since, const char* meaning) {
  Field field;
  field.path = object.empty() ? key : object + "." + key;
  field.column = column_of(object, key);
  field.object = std::move(object);
  field.key = std::move(key);
  field.since = since;
  field.meaning = meaning;
  return field;
}

/// The field `member` (of the base class Fields) of `part`, a member of Cell.
template <typename Part, typename Fields, typename T>
Field member_field(Field field, Part Cell::*part, T Fields::*member,
                   const std::optional<std::type_identity_t<T>>& absent, const char* unit,
                   Values values) {
  field.type = type_of<T>();
  field.values = std::move(values);
  field.unit = unit;
  if (absent) field.absent = json(*absent);
  field.get = [=](const Cell& cell) { return json((cell.*part).*member); };
  field.set = [=](Cell& cell, const json& value) { (cell.*part).*member = value.get<T>(); };
  const Cell defaults;
  field.initial = field.get(defaults);
  return field;
}

Field site_field(Field field, const std::optional<std::string>& absent) {
  const std::string dense = "none";
  field.values = not_empty();
  field.initial = dense;
  if (absent) field.absent = json(*absent);
  field.get = [site = field.key, dense](const Cell& cell) {
    const auto found = cell.compression.codecs.find(site);
    return json(found == cell.compression.codecs.end() ? dense : found->second);
  };
  field.set = [site = field.key, absent = field.absent](Cell& cell, const json& value) {
    if (absent && value == *absent)
      cell.compression.codecs.erase(site);
    else
      cell.compression.codecs[site] = value.get<std::string>();
  };
  return field;
}

std::vector<Field> read_table() {
  std::vector<Field> table;
#define TERSOR_PART(struct_name, member, object_name) \
  {                                                   \
    using Fields = struct_name;                       \
    const auto part = &Cell::member;                  \
    const std::string object = object_name;
#define TERSOR_PART_END }
#define TERSOR_FIELD_AS(key, type, member, initial, since, absent, unit, values, meaning)         \
  table.push_back(member_field(named(object, key, since, meaning), part, &Fields::member, absent, \
                               unit, values));
#define TERSOR_FIELD(type, member, ...) TERSOR_FIELD_AS(#member, type, member, __VA_ARGS__)
#define TERSOR_SITE(key, since, absent, meaning) \
  table.push_back(site_field(named("compressor", key, since, meaning), absent));
#include "protocol/cell_fields.def"
  for (const Field& one : table)
    TERSOR_CHECK(std::count_if(table.begin(), table.end(),
                               [&](const Field& other) {
                                 return other.path == one.path || other.column == one.column;
                               }) == 1,
                 "cell_fields.def has two fields " + one.path + " or two columns " + one.column);
  return table;
}

}  // namespace

json Field::check(const json& given) const {
  return checked(given, type, values, (object.empty() ? "cell" : object) + ": " + key);
}

const std::vector<Field>& fields() {
  static const std::vector<Field> table = read_table();
  return table;
}

const std::vector<std::string>& cell_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (const Field& field : fields()) {
      const std::string& key = field.object.empty() ? field.key : field.object;
      if (std::find(all.begin(), all.end(), key) == all.end()) all.push_back(key);
    }
    return all;
  }();
  return keys;
}

json all_values(const Cell& cell) {
  json all = json::object();
  for (const Field& field : fields())
    (field.object.empty() ? all : all[field.object])[field.key] = field.get(cell);
  return all;
}

}  // namespace tersor::protocol
