// SPDX-License-Identifier: Apache-2.0
#include "results/db/database.hpp"

#include <SQLiteCpp/Backup.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/system_reason.hpp"
#include "results/db/sqlite_header.hpp"
#include "results/schema/migrations.hpp"

namespace tersor::results {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 10000;

/// errno when SQLite met its first error since the last forget_system_error(), 0 where it met none.
/// An exception does not carry it, and unwinding loses it.
thread_local int system_error = 0;

void note_system_error(void* /*unused*/, int code, const char* /*message*/) {
  const int kind = code & 0xff;
  // A file that cannot be created is opened once more for reading: "no such file" is of that try.
  if (system_error == 0 && !(kind == SQLITE_CANTOPEN && errno == ENOENT) &&
      (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN || kind == SQLITE_CORRUPT))
    system_error = errno;
}

/// SQLite's error log can be set only before its first use.
void listen_to_errors() {
  [[maybe_unused]] static const int set =
      sqlite3_config(SQLITE_CONFIG_LOG, note_system_error, nullptr);
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::kDatabase, (path.empty() ? "" : path.string() + ": ") + why);
}

/// Whether there is a file. Everything but a regular file that may be read is refused.
bool check_file(const fs::path& path) {
  std::error_code code;
  if (path.empty()) refuse(path, "the name of the database is empty; give a path with --db");
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::none) refuse(path, "cannot be read: " + code.message());
  if (!fs::exists(status)) return false;
  if (fs::is_directory(status)) refuse(path, "is a folder; give the path of a database file");
  if (!fs::is_regular_file(status)) refuse(path, "is not a regular file");
  if (::access(path.c_str(), R_OK) != 0)
    refuse(path, "cannot be read: " + system_reason(errno) + "; check its permissions");
  return true;
}

void check_writable(const fs::path& path, bool exists) {
  std::error_code code;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const bool has_folder = fs::is_directory(folder, code);
  if (!has_folder && code && code != std::errc::no_such_file_or_directory)
    refuse(path, "cannot be created: " + folder.string() + ": " + code.message());
  if (!has_folder) refuse(path, "cannot be created: there is no folder " + folder.string());
  if (!exists && !fs::exists(path, code)) return;
  // Root may write a file whose mode says no; the mode is the owner's word, so it is kept.
  constexpr auto kAnyWrite =
      fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  if ((fs::status(path, code).permissions() & kAnyWrite) == fs::perms::none)
    refuse(path, "is read-only; make it writable (chmod u+w) or write to another file");
}

/// A database that holds tables but not our mark is somebody else's.
void check_ours(SQLite::Database& db, const fs::path& path) {
  const int id = db.execAndGet("PRAGMA application_id").getInt();
  const int tables = db.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
  if (tables > 0 && id != kApplicationId)
    refuse(path,
           "is an SQLite database of another program (no tersor schema in it); give another "
           "path, nothing was changed");
}

/// The header's version must be that of the last step that was recorded: nothing else tells which
/// tables there are.
void check_version(SQLite::Database& db, const fs::path& path) {
  const int found = schema_version(db);
  if (found > newest_schema_version())
    refuse(path, "has schema version " + std::to_string(found) + ", this tersor knows up to " +
                     std::to_string(newest_schema_version()) +
                     "; use the tersor that wrote it, or a newer one");
  const bool has_steps =
      db.execAndGet("SELECT count(*) FROM sqlite_master WHERE name = 'schema_migration'").getInt() >
      0;
  const int recorded =
      has_steps ? db.execAndGet("SELECT coalesce(max(version), 0) FROM schema_migration").getInt()
                : 0;
  if (found != recorded)
    refuse(path, "has schema version " + std::to_string(found) +
                     " in its header and the tables of " + std::to_string(recorded) +
                     " (table schema_migration): it is damaged, or was changed by another program; "
                     "restore a copy");
}

SQLite::Database migrated_copy(SQLite::Database& old) {
  SQLite::Database copy(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SQLite::Backup(copy, old).executeStep(-1);
  migrate(copy);
  copy.exec("PRAGMA query_only = ON");
  return copy;
}

/// SQLite's busy handler; `count`: how often it was called for this wait before.
int wait_for_others(void* patience, int count) noexcept {
  constexpr int kLongestPauseMs = 100;
  ::poll(nullptr, 0, std::min(kLongestPauseMs, 1 << std::min(count, 8)));  // a signal ends it
  thread_local std::chrono::steady_clock::time_point begin;
  if (count == 0) begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  return (*static_cast<const Patience*>(patience))(waited.count()) ? 1 : 0;
}

/// The limit of this process, if it has one: SQLite does not tell that it was met.
std::optional<std::uint64_t> most_file_bytes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

std::string free_space(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code code;
  const auto space = fs::space(folder, code);
  return "the disk of " + folder.string() +
         (code ? std::string() : " has " + std::to_string(space.available) + " bytes left");
}

}  // namespace

void forget_system_error() { system_error = 0; }

Error database_error(const fs::path& path, const SQLite::Exception& error) {
  std::string message = path.string() + ": ";
  ErrorKind kind = ErrorKind::kDatabase;
  const std::string cause = system_error == 0 ? "" : system_reason(system_error);
  // SQLite calls a device that does not read a malformed image.
  if (error.getErrorCode() == SQLITE_CORRUPT && system_error == EIO)
    return {kind, message + "cannot be read: " + cause + "; check the disk"};
  message += error.what();
  switch (error.getErrorCode()) {
    case SQLITE_CORRUPT:
      message +=
          " (the file is damaged or truncated; restore a copy, or save what is left with "
          "sqlite3 FILE .recover)";
      break;
    case SQLITE_IOERR:
      if (system_error == ENOSPC)
        message += " (" + cause + ": " + free_space(path) + "; make room)";
      else if (!cause.empty())
        message += " (" + cause + "; check the disk, and run the command again)";
      else if (const auto most = most_file_bytes())
        message +=
            " (no file may have more than " + std::to_string(*most) + " bytes: raise `ulimit -f`)";
      break;
    case SQLITE_NOTADB: message += " (give the path of an SQLite database)"; break;
    case SQLITE_BUSY:
      message +=
          " (another process is writing to it, and a results database has one writer at a time; "
          "`fuser FILE` names it)";
      break;
    case SQLITE_READONLY: message += " (the file or its folder is read-only)"; break;
    case SQLITE_CANTOPEN:
      message += " (" + (cause.empty() ? cause : cause + "; ") +
                 "check that the file and its folder may be written)";
      break;
    case SQLITE_FULL: message += " (" + free_space(path) + "; make room)"; break;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG: kind = ErrorKind::kData; break;
    default: break;
  }
  return Error(kind, message);
}

SQLite::Database open_for_writing(const fs::path& path, const Patience* patience) {
  listen_to_errors();
  check_writable(path, check_file(path));
  return with_database_errors(path, [&] {
    SQLite::Database db(uri_of(path),
                        SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI,
                        kBusyTimeoutMs);
    if (patience)
      sqlite3_busy_handler(db.getHandle(), wait_for_others, const_cast<Patience*>(patience));
    check_header(db, path);
    check_ours(db, path);
    check_version(db, path);
    // SQLite opens for reading what it could not open for writing, and keeps the reason to itself.
    if (sqlite3_db_readonly(db.getHandle(), "main") == 1)
      refuse(path, ::access(path.c_str(), W_OK) != 0
                       ? "is read-only; make it writable or write to another file"
                       : "could be opened read-only, though this user may write it: too many open "
                         "files (see `ulimit -n`), or an I/O error");
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    migrate(db);
    return db;
  });
}

ReadOnlyFile open_for_reading(const fs::path& path) {
  listen_to_errors();
  if (!check_file(path))
    throw Error(ErrorKind::kMissing,
                path.string() + ": no such file; `tersor run FILE --db ...` makes a database");
  std::error_code code;
  if (fs::file_size(path, code) == 0 && !code)
    refuse(path, "is empty: no run was stored; write to it with `tersor run FILE --db ...`");
  return with_database_errors(path, [&] {
    ReadOnlyFile file(path);
    check_ours(file.db(), path);
    check_version(file.db(), path);
    if (!is_newest(file.db())) file.replace(migrated_copy(file.db()));
    return file;
  });
}

}  // namespace tersor::results
