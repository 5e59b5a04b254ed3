// SPDX-License-Identifier: Apache-2.0
#include "protocol/cell.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/hex.hpp"
#include "common/nearest.hpp"
#include "protocol/fields.hpp"

namespace tersor::protocol {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

void refuse_unknown(const json& object, const std::string& what, const std::string& noun,
                    const std::vector<std::string>& known) {
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail(what + ": unknown " + noun + " '" + key + "'" + known_names_hint(key, known));
}

std::vector<std::string> keys_in(const std::string& object) {
  std::vector<std::string> keys;
  for (const Field& field : fields())
    if (field.object == object) keys.push_back(field.key);
  return keys;
}

/// One spec stands for the sites `tp` and, in a pipeline, `pp`, with the gradients dense (METHODS
/// section 3).
json sites_of(const json& spec, const json& cell) {
  json sites{{"tp", spec}};
  const auto hardware = cell.find("hardware");
  if (hardware == cell.end() || !hardware->is_object()) return sites;
  const auto stages = hardware->find("pp");
  if (stages != hardware->end() && stages->is_number_integer() && *stages > 1) sites["pp"] = spec;
  return sites;
}

/// The object `name` of a cell, empty where it is left out.
json object_in(const json& cell, const std::string& name) {
  const auto found = cell.find(name);
  if (found == cell.end()) return json::object();
  const bool is_compressor = name == "compressor";
  if (is_compressor && found->is_string()) return sites_of(*found, cell);
  if (!found->is_object())
    fail(is_compressor
             ? "compressor must be a codec spec or an object of site and spec, got " + shown(*found)
             : name + ": expected an object, got " + shown(*found));
  refuse_unknown(*found, name, is_compressor ? "site" : "key", keys_in(name));
  return *found;
}

}  // namespace

ordered_json to_json(const Cell& cell) {
  ordered_json made = ordered_json::object();
  for (const Field& field : fields()) {
    const json value = field.get(cell);
    if (value == field.absent) continue;
    (field.object.empty() ? made : made[field.object])[field.key] = value;
  }
  return made;
}

Cell cell_from_json(const json& given) {
  if (!given.is_object()) fail("cell: expected an object, got " + shown(given));
  json objects = json::object();
  for (const Field& field : fields())
    if (!field.object.empty() && !objects.contains(field.object))
      objects[field.object] = object_in(given, field.object);
  Cell cell;
  for (const Field& field : fields()) {
    const json& holder = field.object.empty() ? given : objects.at(field.object);
    const auto found = holder.find(field.key);
    field.set(cell,
              found == holder.end() ? field.absent.value_or(field.initial) : field.check(*found));
  }
  refuse_unknown(given, "cell", "key", cell_keys());
  return cell;
}

json identity(const json& cell) {
  json kept = cell;
  for (const Field& field : fields()) {
    if (!field.absent || (!field.object.empty() && !kept.contains(field.object))) continue;
    json& holder = field.object.empty() ? kept : kept.at(field.object);
    if (const auto found = holder.find(field.key); found != holder.end() && *found == *field.absent)
      holder.erase(found);
  }
  return kept;
}

std::string cell_key(const json& cell, const std::string& versions) {
  return hex(xxh64(identity(cell).dump() + "\n" + versions));
}

std::string cell_key(const Cell& cell, const std::string& versions) {
  return cell_key(json(to_json(cell)), versions);
}

}  // namespace tersor::protocol
