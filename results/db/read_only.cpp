// SPDX-License-Identifier: Apache-2.0
#include "results/db/read_only.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "common/log.hpp"
#include "results/db/sqlite_header.hpp"

namespace tersor::results {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 10000;

fs::path beside(const fs::path& path, const char* suffix) { return path.string() + suffix; }

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

bool has_bytes(const fs::path& path) {
  std::error_code code;
  const auto bytes = fs::file_size(path, code);
  return !code && bytes > 0;
}

/// Root's files beside a database get its owner from SQLite.
bool is_of_another_user(const fs::path& path) {
  struct stat found {};
  return geteuid() != 0 && stat(path.c_str(), &found) == 0 && found.st_uid != geteuid();
}

/// The file format's "read version": 2 is a write-ahead log.
bool uses_log(const fs::path& path) {
  constexpr std::streamoff kReadVersion = 19;
  std::ifstream in(path, std::ios::binary);
  in.seekg(kReadVersion);
  return in.get() == 2;
}

}  // namespace

std::string uri_of(const fs::path& path) {
  // With an empty authority, two slashes at the start of a path begin none.
  std::string uri = path.is_absolute() ? "file://" : "file:";
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : path.string()) {
    if (c == '?' || c == '#' || c == '%') {
      uri += '%';
      uri += kHex[static_cast<unsigned char>(c) >> 4];
      uri += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      uri += c;
    }
  }
  return uri;
}

void ReadOnlyFile::RemoveFolder::operator()(const fs::path* folder) const noexcept {
  std::error_code code;
  fs::remove_all(*folder, code);
  if (code)
    log_line(LogLevel::kWarning, folder->string() + " could not be removed: " + code.message());
  delete folder;
}

ReadOnlyFile::ReadOnlyFile(const fs::path& path) : path_(path) {
  const bool has_log = is_there(beside(path, "-wal"));
  const bool is_shared = has_log && is_there(beside(path, "-shm"));
  // Not uses_log beside a writer: it might be this process's own (check_header).
  if (is_shared || !is_of_another_user(path) || !uses_log(path)) {
    try {
      open(uri_of(path));
      return;
    } catch (const SQLite::Exception& error) {
      // In a folder where SQLite may not make its files, one without a log can still be read.
      const bool may_be_the_folder =
          error.getErrorCode() == SQLITE_CANTOPEN || error.getErrorCode() == SQLITE_READONLY;
      if (!may_be_the_folder || has_bytes(beside(path, "-wal"))) throw;
    }
  } else if (has_bytes(beside(path, "-wal"))) {
    open_copy();
    return;
  }
  unlocked_ = state_of(path);
  open(uri_of(path) + "?immutable=1");
}

void ReadOnlyFile::open(const std::string& uri) {
  db_.emplace(uri, SQLite::OPEN_READONLY | SQLite::OPEN_URI, kBusyTimeoutMs);
  check_header(*db_, path_);
  db_->execAndGet("SELECT count(*) FROM sqlite_master");
}

void ReadOnlyFile::open_copy() {
  std::error_code code;
  std::string name = (fs::temp_directory_path(code) / "tersor-read-XXXXXX").string();
  if (code || !mkdtemp(name.data()))
    throw Error(ErrorKind::kIo, path_.string() +
                                    ": is another user's and has a log, and no folder for a copy "
                                    "can be made; set TMPDIR to one that may be written");
  copy_.reset(new fs::path(name));
  for (const char* suffix : {"", "-wal"})
    if (!fs::copy_file(beside(path_, suffix), *copy_ / (std::string("copy.db") + suffix), code))
      throw Error(ErrorKind::kIo, beside(path_, suffix).string() + ": cannot be copied to " + name +
                                      ": " + code.message());
  open(uri_of(*copy_ / "copy.db"));
}

void ReadOnlyFile::replace(SQLite::Database db) {
  expect_unchanged();
  unlocked_.reset();
  db_.emplace(std::move(db));
  copy_.reset();
}

std::optional<ReadOnlyFile::State> ReadOnlyFile::state_of(const fs::path& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return State{found.st_ino, static_cast<std::uintmax_t>(found.st_size),
               found.st_mtim.tv_sec * kNsPerSecond + found.st_mtim.tv_nsec};
}

void ReadOnlyFile::expect_unchanged() const {
  if (unlocked_ && state_of(path_) != unlocked_)
    throw Error(ErrorKind::kDatabase,
                path_.string() + ": was written by its owner while it was read; run it again");
}

}  // namespace tersor::results
