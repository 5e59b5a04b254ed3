// SPDX-License-Identifier: Apache-2.0
#include "results/schema/rekey.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json_parse.hpp"
#include "protocol/cell.hpp"
#include "results/text.hpp"

namespace tersor::results {
namespace {

using nlohmann::json;

/// Name of a codec -> its version. No codec had two before step 5.
std::map<std::string, std::string> codec_versions(SQLite::Database& db) {
  std::map<std::string, std::string> versions;
  SQLite::Statement find(db, "SELECT name, version FROM codec");
  while (find.executeStep())
    versions[find.getColumn(0).getString()] = find.getColumn(1).getString();
  return versions;
}

/// The arguments of a canonical spec: what is between its commas outside inner parentheses.
std::vector<std::string> arguments_of(const std::string& spec) {
  std::vector<std::string> arguments;
  int depth = 0;
  for (const char c : spec) {
    if (c == ')') --depth;
    if (depth == 1 && c == ',') {
      arguments.emplace_back();
    } else if (depth >= 1) {
      arguments.back() += c;
    }
    if (c == '(' && ++depth == 1) arguments.emplace_back();
  }
  return arguments;
}

/// "ef 1 (topk 1)": the codecs of a canonical spec. Inner codecs are its arguments without a name,
/// and those that have arguments. Deeper ones than any spec has are left out.
std::string versions_text(const std::string& spec,
                          const std::map<std::string, std::string>& versions, int depth = 0) {
  constexpr int kDeepest = 64;
  if (depth > kDeepest) return "";
  const std::string name = spec.substr(0, spec.find('('));
  const auto known = versions.find(name);
  std::string text = name + " " + (known == versions.end() ? "1" : known->second);
  for (const std::string& argument : arguments_of(spec)) {
    const auto parenthesis = argument.find('(');
    const auto equals = argument.find('=');
    const bool is_named = equals < parenthesis;
    if (is_named && parenthesis == std::string::npos) continue;
    const std::string inner = is_named ? argument.substr(equals + 1) : argument;
    text.append(" (").append(versions_text(inner, versions, depth + 1)).append(")");
  }
  return text;
}

std::string versions_text(const json& sites, const std::map<std::string, std::string>& versions) {
  std::string text = "wire 1";
  for (const auto& [site, spec] : sites.items())
    text += "; " + site + ": " + versions_text(spec.get<std::string>(), versions);
  return text;
}

struct Cell {
  std::int64_t id = 0;
  std::string key;
  std::string config;
};

std::vector<Cell> cells_of(SQLite::Database& db) {
  std::vector<Cell> cells;
  SQLite::Statement find(db, "SELECT id, cell_key, config FROM cell ORDER BY id");
  while (find.executeStep())
    cells.push_back({find.getColumn(0).getInt64(), find.getColumn(1).getString(),
                     find.getColumn(2).getString()});
  return cells;
}

/// Empty where the old key cannot be made again.
std::string new_key(const Cell& cell, const std::map<std::string, std::string>& versions) {
  const std::string place = "table cell, row " + std::to_string(cell.id) + ", config";
  const json config = parse_json<json>(cell.config, place, 1, ErrorKind::kDatabase);
  try {
    const std::string old_versions = versions_text(config.at("compressor"), versions);
    if (hash_of(cell.config + "\n" + old_versions) != cell.key) return "";
    const json kept = protocol::identity(config);
    return protocol::cell_key(kept, versions_text(kept.at("compressor"), versions));
  } catch (const json::exception& error) {
    throw Error(ErrorKind::kDatabase, place + ": is no cell: " + error.what());
  }
}

}  // namespace

void rekey_cells(SQLite::Database& db) {
  const auto versions = codec_versions(db);
  for (const Cell& cell : cells_of(db)) {
    const std::string key = new_key(cell, versions);
    if (key.empty()) continue;
    // Two cells may turn out to be one, where a site was given as `none`: the first one counts.
    SQLite::Statement update(
        db, "UPDATE OR IGNORE cell SET cell_key = ?1, former_key = ?2 WHERE id = ?3");
    update.bind(1, key);
    update.bind(2, cell.key);
    update.bind(3, cell.id);
    update.exec();
  }
}

}  // namespace tersor::results
