// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace SQLite {
class Database;
}

namespace tersor::results {

/// Whether the table `cell` has the column of every field of protocol/cell_fields.def.
bool has_cell_columns(SQLite::Database& db);

/// Adds those that are missing, as columns computed from `config`, and makes the view v_cell_field
/// again. Columns of fields that only a newer tersor knows stay. Belongs in a transaction.
void add_cell_columns(SQLite::Database& db);

}  // namespace tersor::results
