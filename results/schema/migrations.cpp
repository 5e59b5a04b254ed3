// SPDX-License-Identifier: Apache-2.0
#include "results/schema/migrations.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <exception>
#include <string>
#include <utility>

#include "common/build_info.hpp"
#include "common/error.hpp"
#include "common/number.hpp"
#include "results/schema/cell_columns.hpp"
#include "results/schema/rekey.hpp"
#include "results/stats/stats.hpp"
#include "results/text.hpp"

namespace tersor::results {

std::vector<std::pair<std::string_view, std::string_view>> migration_files();  // made by CMake

namespace {

constexpr int kCellFields = 5;  // the step that makes columns of the cell's fields

bool is_at(SQLite::Database& db, int version) {
  return schema_version(db) == version && (version < kCellFields || has_cell_columns(db));
}

/// student_t_quantile(p, df) for the steps: views read its values from the table student_t, so that
/// the file needs no function of ours.
void add_student_t(SQLite::Database& db) {
  const auto call = [](sqlite3_context* context, int, sqlite3_value** arguments) {
    try {
      sqlite3_result_double(context, student_t_quantile(sqlite3_value_double(arguments[0]),
                                                        sqlite3_value_double(arguments[1])));
    } catch (const std::exception& error) {  // not in (0, 1), or no degree of freedom
      sqlite3_result_error(context, error.what(), -1);
    }
  };
  db.createFunction("student_t_quantile", 2, true, nullptr, call, nullptr, nullptr, nullptr);
}

}  // namespace

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> steps = [] {
    std::vector<Migration> made;
    for (const auto& [file, sql] : migration_files()) {
      Migration step;
      step.version = static_cast<int>(parse_whole_number(file.substr(0, 4)).value_or(0));
      step.name = file.substr(5, file.size() - 5 - std::string_view(".sql").size());
      step.sql = sql;
      made.push_back(step);
      TERSOR_CHECK(step.version == static_cast<int>(made.size()),
                   "migrations have a gap before " + std::string(file));
    }
    return made;
  }();
  return steps;
}

int newest_schema_version() { return migrations().back().version; }

bool is_newest(SQLite::Database& db) { return is_at(db, newest_schema_version()); }

int schema_version(SQLite::Database& db) { return db.execAndGet("PRAGMA user_version").getInt(); }

void migrate(SQLite::Database& db, int target) {
  if (is_at(db, target)) return;
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  const int found = schema_version(db);  // another process may have been faster
  if (found > target)
    throw Error(ErrorKind::kDatabase, "schema version " + std::to_string(found) +
                                          " is newer than the newest that this tersor knows (" +
                                          std::to_string(target) +
                                          "); use the tersor that wrote it, or a newer one");
  add_student_t(db);
  for (int version = found + 1; version <= target; ++version) {
    const Migration& step = migrations().at(static_cast<std::size_t>(version - 1));
    db.exec(std::string(step.sql));
    if (version == kCellFields) {
      add_cell_columns(db);
      rekey_cells(db);
    }
    SQLite::Statement row(db,
                          "INSERT INTO schema_migration (version, name, hash, tool_version, "
                          "applied_at) VALUES (?, ?, ?, ?, ?)");
    row.bind(1, version);
    row.bind(2, std::string(step.name));
    row.bind(3, hash_of(step.sql));
    row.bind(4, build_version());
    row.bind(5, utc_now());
    row.exec();
  }
  if (target >= kCellFields && !has_cell_columns(db)) add_cell_columns(db);
  db.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
  db.exec("PRAGMA user_version = " + std::to_string(target));
  transaction.commit();
}

}  // namespace tersor::results
