// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "results/db/read_only.hpp"

namespace tersor::results {

/// Opens or creates a results database for its one writer: WAL, foreign keys, 10 s of patience with
/// a busy file, schema migrated to the newest version. Throws Error(kDatabase) that names the path,
/// what was found and what to do: a folder, not SQLite, another program's database, truncated,
/// read-only, a newer schema. A file that is refused is left as it was.
SQLite::Database open_for_writing(const std::filesystem::path& path);

/// Opens a results database that is only read; neither the file nor its folder changes. An older
/// schema is copied into memory and migrated there. Throws as above, and where there is no file.
ReadOnlyFile open_for_reading(const std::filesystem::path& path);

/// What an SQLite error means for a user of this file, as tersor's Error; it names the system's
/// reason where one was met since the last forget_system_error() of this thread.
Error database_error(const std::filesystem::path& path, const SQLite::Exception& error);
void forget_system_error();

/// Runs `work`; SQLite's exceptions become Error (database_error).
template <typename Work>
auto with_database_errors(const std::filesystem::path& path, Work&& work) {
  forget_system_error();
  try {
    return std::forward<Work>(work)();
  } catch (const SQLite::Exception& error) {
    throw database_error(path, error);
  }
}

}  // namespace tersor::results
