// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

namespace SQLite {
class Database;
}

namespace tersor::results {

/// One step of the schema: results/schema/NNNN_NAME.sql, from version NNNN - 1 to NNNN.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
};

/// All steps, 1 .. n without a gap. The text is part of the program.
const std::vector<Migration>& migrations();
int newest_schema_version();

/// "tersor results database" in the header of the file (PRAGMA application_id): "TRSR".
constexpr int kApplicationId = 0x54525352;

/// Schema version of an open database (PRAGMA user_version); 0 for an empty one.
int schema_version(SQLite::Database& db);

/// Whether there is nothing for migrate() to do: the newest version, with a column for every field
/// of a cell.
bool is_newest(SQLite::Database& db);

/// Takes the schema from its version to `target`, each step with its row in schema_migration, and
/// adds the columns of fields that are new since, all in one transaction: a step that fails leaves
/// the file as it was. Throws Error(kDatabase) for a schema newer than `target`, with both
/// versions.
void migrate(SQLite::Database& db, int target = newest_schema_version());

}  // namespace tersor::results
