// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace SQLite {
class Database;
}

namespace tersor::results {

/// Throws Error(kDatabase) where the open file holds bytes that are not SQLite's, or fewer than its
/// header; an empty file is fine. To be asked before the first SQL.
///
/// Reads through SQLite's own descriptor: a process that closes any other one of the same file
/// loses all POSIX locks that it has on it, also those of its writer's connection, and then another
/// process removes the log that this still writes to.
void check_header(SQLite::Database& db, const std::filesystem::path& path);

}  // namespace tersor::results
