// SPDX-License-Identifier: Apache-2.0
#include "results/schema/cell_columns.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/fields.hpp"

namespace tersor::results {
namespace {

using protocol::Field;
using protocol::FieldType;

/// What v_cell_field leaves out: the columns that begin the views, and `inference`, which views of
/// evaluations have of their own.
constexpr std::array<std::string_view, 7> kElsewhere{"hardware", "kind",   "dataset",  "model",
                                                     "stage",    "layers", "inference"};

/// The computed columns that the table has.
std::vector<std::string> columns_of(SQLite::Database& db) {
  constexpr int kVirtual = 2;
  SQLite::Statement find(db, "SELECT name FROM pragma_table_xinfo('cell') WHERE hidden = ?");
  find.bind(1, kVirtual);
  std::vector<std::string> names;
  while (find.executeStep()) names.push_back(find.getColumn(0).getString());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string sql_type(FieldType type) {
  switch (type) {
    case FieldType::kText: return "TEXT";
    case FieldType::kReal: return "REAL";
    case FieldType::kWhole:
    case FieldType::kFlag: break;
  }
  return "INTEGER";
}

std::string in_quotes(std::string_view text, char quote) {
  std::string made(1, quote);
  for (const char c : text) made.append(c == quote ? 2 : 1, c);
  made += quote;
  return made;
}

std::string literal(const nlohmann::json& value) {
  return value.is_string() ? in_quotes(value.get<std::string>(), '\'') : value.dump();
}

/// Its value in `config`; where that leaves the field out, what cells had before it existed.
std::string expression(const Field& field) {
  std::string path = "$";
  for (const std::string& key : {field.object, field.key})
    if (!key.empty()) path.append(".").append(in_quotes(key, '"'));
  const std::string found = "json_extract(config, " + in_quotes(path, '\'') + ")";
  return field.absent ? "coalesce(" + found + ", " + literal(*field.absent) + ")" : found;
}

}  // namespace

bool has_cell_columns(SQLite::Database& db) {
  const std::vector<std::string> present = columns_of(db);
  const auto& fields = protocol::fields();
  return std::all_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return contains(present, field.column); });
}

void add_cell_columns(SQLite::Database& db) {
  const std::vector<std::string> present = columns_of(db);
  for (const Field& field : protocol::fields())
    if (!contains(present, field.column))
      db.exec("ALTER TABLE cell ADD COLUMN " + in_quotes(field.column, '"') + " " +
              sql_type(field.type) + " AS (" + expression(field) + ") VIRTUAL");
  std::string list;
  for (const std::string& column : columns_of(db))
    if (std::find(kElsewhere.begin(), kElsewhere.end(), column) == kElsewhere.end())
      list.append(in_quotes(column, '"')).append(", ");
  db.exec("DROP VIEW IF EXISTS v_cell_field");
  db.exec("CREATE VIEW v_cell_field AS SELECT " + list +
          "cell_key, group_hash, id AS cell_id FROM cell");
}

}  // namespace tersor::results
