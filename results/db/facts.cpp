// SPDX-License-Identifier: Apache-2.0
#include "results/db/facts.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "common/build_info.hpp"
#include "common/error.hpp"
#include "protocol/cell.hpp"
#include "results/text.hpp"

namespace tersor::results {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

using Columns = std::vector<std::pair<const char*, json>>;

/// INSERT INTO table (hash, columns ...) unless the hash is there; the id of the row.
std::int64_t find_or_add(SQLite::Database& db, const std::string& table, const char* key,
                         const std::string& key_value, const Columns& columns) {
  SQLite::Statement find(db, "SELECT id FROM " + table + " WHERE " + key + " = ?");
  find.bind(1, key_value);
  if (find.executeStep()) return find.getColumn(0).getInt64();
  std::string names = key;
  std::string placeholders = "?";
  for (const auto& [name, value] : columns) {
    names += std::string(", ") + name;
    placeholders += ", ?";
  }
  SQLite::Statement add(db,
                        "INSERT INTO " + table + " (" + names + ") VALUES (" + placeholders + ")");
  add.bind(1, key_value);
  int index = 1;
  for (const auto& [name, value] : columns) bind_json(add, ++index, value);
  add.exec();
  return db.getLastInsertRowid();
}

Columns take(const json& facts, std::initializer_list<const char*> keys) {
  Columns columns;
  for (const char* key : keys) columns.emplace_back(key, field_or_null(facts, key));
  return columns;
}

/// Numbers that a TEXT column takes, or the text itself.
json as_text(const json& value) {
  if (value.is_null() || value.is_string()) return value;
  return text_of(value);
}

json text_facts(const json& facts, const char* key, const std::string& otherwise) {
  const json& found = field_or_null(facts, key);
  return found.is_null() ? json(otherwise) : as_text(found);
}

}  // namespace

const json& field_or_null(const json& object, const char* key) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

void bind_json(SQLite::Statement& statement, int index, const json& value) {
  if (value.is_null())
    statement.bind(index);
  else if (value.is_string())
    statement.bind(index, clean_text(value.get_ref<const std::string&>()));
  else if (value.is_boolean())
    statement.bind(index, value.get<bool>() ? 1 : 0);
  else if (value.is_number_integer())
    statement.bind(index, value.get<std::int64_t>());
  else if (value.is_number())
    statement.bind(index, value.get<double>());
  else
    statement.bind(index, text_of(value));
}

std::int64_t add_hardware(SQLite::Database& db, const json& facts) {
  const std::string text = text_of(facts);
  Columns columns = take(facts, {"cpu", "cores", "memory_bytes", "gpu", "gpus"});
  columns[3].second = as_text(columns[3].second);
  columns.emplace_back("facts", text);
  return find_or_add(db, "hardware", "hash", hash_of(text), columns);
}

std::int64_t add_environment(SQLite::Database& db, const json& facts) {
  const std::string text = text_of(facts);
  Columns columns = take(facts, {"torch", "cuda", "compiler", "flags", "isa", "math_isa",
                                 "math_library", "threads", "backend"});
  for (auto& [name, value] : columns)
    if (std::string_view(name) != "threads") value = as_text(value);
  columns.emplace_back("facts", text);
  return find_or_add(db, "environment", "hash", hash_of(text), columns);
}

std::int64_t add_dataset(SQLite::Database& db, const json& facts) {
  Columns columns = take(
      facts, {"train_rows", "eval_rows", "train_hash", "eval_hash", "subset", "best_accuracy"});
  json identity{{"name", text_facts(facts, "name", "")}};
  for (auto& [name, value] : columns) {
    if (std::string_view(name).ends_with("hash") || std::string_view(name) == "subset")
      value = as_text(value);
    identity[name] = value;
  }
  columns.emplace_back("name", identity["name"]);
  return find_or_add(db, "dataset", "hash", hash_of(text_of(identity)), columns);
}

std::int64_t add_model(SQLite::Database& db, const json& facts) {
  json arch = field_or_null(facts, "arch");
  if (arch.is_null()) arch = json::object();
  const json name = text_facts(facts, "name", "");
  Columns columns = take(facts, {"parameters", "trainable"});
  const json identity{{"name", name},
                      {"arch", arch},
                      {"parameters", columns[0].second},
                      {"trainable", columns[1].second}};
  columns.emplace_back("name", name);
  columns.emplace_back("arch", text_of(arch));
  return find_or_add(db, "model", "hash", hash_of(text_of(identity)), columns);
}

std::int64_t add_codec(SQLite::Database& db, const json& facts) {
  const auto object_text = [&](const char* key) {
    const json& found = field_or_null(facts, key);
    return found.is_null() ? std::string("{}") : text_of(found);
  };
  const json name = text_facts(facts, "name", "");
  const json version = text_facts(facts, "version", "1");
  const json variant = text_facts(facts, "variant", "corrected");
  const json spec = text_facts(facts, "spec", "");
  const std::string params = object_text("params");
  const std::string properties = object_text("properties");
  const json identity{name, version, variant, spec, params, properties};
  const std::int64_t id = find_or_add(db, "codec", "hash", hash_of(text_of(identity)),
                                      {{"name", name},
                                       {"version", version},
                                       {"variant", variant},
                                       {"spec", spec},
                                       {"params", params},
                                       {"properties", properties}});
  // What tables show is no part of the identity: the newest declaration counts.
  SQLite::Statement declare(
      db, "UPDATE codec SET strength = ?, stronger = ?, is_reference = ? WHERE id = ?");
  bind_json(declare, 1, field_or_null(facts, "strength"));
  bind_json(declare, 2, field_or_null(facts, "stronger"));
  declare.bind(3, field_or_null(facts, "is_reference") == true ? 1 : 0);
  declare.bind(4, id);
  declare.exec();
  return id;
}

std::int64_t add_own_code(SQLite::Database& db) {
  const BuildInfo& info = build_info();
  const auto known = [](const std::string& text) { return text.empty() ? json() : json(text); };
  const json facts{{"version", info.version},
                   {"git_sha", known(info.git_sha)},
                   {"diff_hash", known(info.diff_hash)},
                   {"compiler", known(info.compiler)},
                   {"flags", known(info.flags)},
                   {"build_type", known(info.build_type)}};
  const std::string text = text_of(facts);
  return find_or_add(db, "code", "hash", hash_of(text),
                     {{"version", info.version},
                      {"git_sha", known(info.git_sha)},
                      {"parent_sha", known(info.parent_sha)},
                      {"branch", known(info.branch)},
                      {"fork_point", known(info.fork_point)},
                      {"diff_hash", known(info.diff_hash)},
                      {"committed_at", known(info.committed_at)},
                      {"facts", text}});
}

std::string codec_label(const ordered_json& compressor) {
  if (compressor.is_string()) return compressor.get<std::string>();
  if (!compressor.is_object() || compressor.empty()) return "none";
  const std::string main_site = compressor.contains("tp") ? "tp" : compressor.begin().key();
  const std::string main_spec = compressor.at(main_site).get<std::string>();
  std::string label = main_spec;
  for (const auto& [site, spec] : compressor.items()) {
    const std::string text = spec.get<std::string>();
    if (site == main_site || text == "none" || (site == "pp" && text == main_spec)) continue;
    label += "; " + site + " = " + text;
  }
  return label;
}

std::int64_t add_cell_row(SQLite::Database& db, const std::string& cell_key,
                          const ordered_json& config, const json& codecs) {
  json group = protocol::identity(json(config));
  group.erase("compressor");
  const std::int64_t cell =
      find_or_add(db, "cell", "cell_key", cell_key,
                  {{"group_hash", hash_of(text_of(group))},
                   {"config", config.dump(-1, ' ', false, ordered_json::error_handler_t::replace)},
                   {"codec", codec_label(config.value("compressor", ordered_json()))},
                   {"added_at", utc_now()}});
  for (const auto& [site, facts] : codecs.items()) {
    SQLite::Statement add(db,
                          "INSERT INTO cell_codec (cell_id, site, codec_id) VALUES (?, ?, ?) "
                          "ON CONFLICT (cell_id, site) DO NOTHING");
    add.bind(1, cell);
    add.bind(2, site);
    add.bind(3, add_codec(db, facts));
    add.exec();
  }
  return cell;
}

}  // namespace tersor::results
