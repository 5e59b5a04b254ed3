// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "results/db/read_only.hpp"

namespace tersor::results {

/// Asked about ten times a second while another process writes, with the seconds waited so far;
/// false gives up: the write is then an error. Must not throw, nor use the database.
using Patience = std::function<bool(double waited_seconds)>;

/// Opens or creates a results database for its one writer: WAL, foreign keys, schema migrated to
/// the newest version. While another process writes it waits as long as `patience` says (it must
/// outlive the result), ten seconds where that is null. Throws Error(kDatabase) that names
/// the path, what was found and what to do: a folder, not SQLite, another program's database,
/// truncated, read-only, a newer schema. A file that is refused is left as it was.
SQLite::Database open_for_writing(const std::filesystem::path& path,
                                  const Patience* patience = nullptr);

/// Opens a results database that is only read; neither the file nor its folder changes. An older
/// schema is copied into memory and migrated there. Throws as above, and where there is no file.
ReadOnlyFile open_for_reading(const std::filesystem::path& path);

/// What an SQLite error means for a user of this file, as tersor's Error; it names the system's
/// reason where one was met since the last forget_system_error() of this thread. Of kind kData
/// where the values were refused and not the file (a broken constraint, a value that is too large).
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
