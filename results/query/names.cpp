// SPDX-License-Identifier: Apache-2.0
#include "results/query/names.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

#include "common/nearest.hpp"

namespace tersor::results {
namespace {

std::vector<std::string> texts(SQLite::Statement& statement) {
  std::vector<std::string> found;
  while (statement.executeStep()) found.push_back(statement.getColumn(0).getString());
  return found;
}

std::vector<std::string> tables_of(SQLite::Database& db) {
  SQLite::Statement find(db,
                         "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name "
                         "NOT LIKE 'sqlite_%' ORDER BY type = 'table', name");
  return texts(find);
}

/// The words of a statement, in lower case, as SQL's names are compared.
std::set<std::string> words_of(std::string_view sql) {
  std::set<std::string> words;
  std::string word;
  for (const char c : sql) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(std::exchange(word, {}));
    }
  }
  words.insert(word);
  return words;
}

std::vector<std::string> columns_of(SQLite::Database& db, std::string_view sql) {
  const std::set<std::string> words = words_of(sql);
  std::vector<std::string> columns;
  for (const std::string& table : tables_of(db)) {
    if (!words.contains(table)) continue;
    SQLite::Statement find(db, "SELECT name FROM pragma_table_xinfo(?)");
    find.bind(1, table);
    for (std::string& column : texts(find))
      if (std::find(columns.begin(), columns.end(), column) == columns.end())
        columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

std::string names_hint(SQLite::Database& db, std::string_view sql, std::string_view message) {
  constexpr std::string_view kTable = "no such table: ";
  constexpr std::string_view kColumn = "no such column: ";
  if (message.starts_with(kTable))
    return known_names_hint(message.substr(kTable.size()), tables_of(db));
  if (!message.starts_with(kColumn)) return "";
  std::string_view name = message.substr(kColumn.size());
  if (const auto dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  const std::vector<std::string> columns = columns_of(db, sql);
  return columns.empty() ? "" : known_names_hint(name, columns);
}

std::string damaged_json_hint(SQLite::Database& db, std::string_view message) {
  if (message.find("malformed JSON") == std::string_view::npos) return "";
  constexpr std::array<std::pair<const char*, const char*>, 9> kColumns{
      {{"cell", "config"},
       {"hardware", "facts"},
       {"environment", "facts"},
       {"code", "facts"},
       {"model", "arch"},
       {"codec", "params"},
       {"codec", "properties"},
       {"imported_case", "facts"},
       {"imported_file", "context"}}};
  for (const auto& [table, column] : kColumns) {
    SQLite::Statement find(db, std::string("SELECT id FROM ") + table + " WHERE NOT json_valid(" +
                                   column + ") LIMIT 1");
    if (find.executeStep())
      return std::string(": table ") + table + ", row " + find.getColumn(0).getString() + ": " +
             column + " is no JSON; mend it, or remove the row, with sqlite3";
  }
  return "";
}

}  // namespace tersor::results
