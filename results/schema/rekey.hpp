// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace SQLite {
class Database;
}

namespace tersor::results {

/// Part of step 5: gives each cell the key that protocol::cell_key makes of its `config`, and keeps
/// the one that it had as `former_key`. Until then a key was the hash of all fields in the order in
/// which they were written, so that every new field changed every key. A cell whose old key cannot
/// be made again (of codecs that no tersor ever had) keeps it.
void rekey_cells(SQLite::Database& db);

}  // namespace tersor::results
