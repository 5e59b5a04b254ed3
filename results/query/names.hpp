// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace SQLite {
class Database;
}

namespace tersor::results {

/// For the end of SQLite's "no such table: X" or "no such column: X": the nearest name of the
/// database, and the names to choose from: tables and views, or the columns of those that `sql`
/// names. Empty for other messages. Throws SQLite::Exception.
std::string names_hint(SQLite::Database& db, std::string_view sql, std::string_view message);

/// For the end of SQLite's "malformed JSON": the first row whose JSON is none, ": table cell, row
/// 3: config is no JSON". Empty for other messages, and where there is none. Throws
/// SQLite::Exception.
std::string damaged_json_hint(SQLite::Database& db, std::string_view message);

}  // namespace tersor::results
