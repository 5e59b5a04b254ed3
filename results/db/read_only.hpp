// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace tersor::results {

/// The path as SQLite's URI: absolute or not, with any number of slashes.
std::string uri_of(const std::filesystem::path& path);

/// An open database file that is only read and next to which nothing is made: a log or its index
/// that belongs to another user would stop the owner's next writer. The owner's own connections
/// work as SQLite's do. Of another user's file,
///  - one that is being written has both already, and they are shared;
///  - one with a log that nobody has open is copied into a folder of our own, with its log;
///  - one without a log is read as it stands; expect_unchanged() tells whether it stood still.
class ReadOnlyFile {
 public:
  /// Throws SQLite::Exception, or Error(kIo) where the copy cannot be made.
  explicit ReadOnlyFile(const std::filesystem::path& path);

  SQLite::Database& db() { return *db_; }
  /// Goes on with this database, a migrated copy; the file is closed.
  void replace(SQLite::Database db);
  /// Throws Error(kDatabase) where a file that was read without locks was written meanwhile.
  void expect_unchanged() const;

 private:
  struct State {
    std::uintmax_t inode = 0;
    std::uintmax_t bytes = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const State&) const = default;
  };
  struct RemoveFolder {
    using pointer = std::filesystem::path*;
    void operator()(const std::filesystem::path* folder) const noexcept;
  };

  static std::optional<State> state_of(const std::filesystem::path& path);
  void open(const std::string& uri);
  void open_copy();

  std::filesystem::path path_;
  std::unique_ptr<std::filesystem::path, RemoveFolder> copy_;
  std::optional<SQLite::Database> db_;
  std::optional<State> unlocked_;  ///< of a file that is read without locks
};

}  // namespace tersor::results
