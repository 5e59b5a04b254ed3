// SPDX-License-Identifier: Apache-2.0
#include "results/db/sqlite_header.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "common/error.hpp"
#include "common/system_reason.hpp"

namespace tersor::results {

void check_header(SQLite::Database& db, const std::filesystem::path& path) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kDatabase, path.string() + ": " + why);
  };
  sqlite3_file* file = nullptr;
  sqlite3_int64 bytes = 0;
  sqlite3_file_control(db.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  errno = 0;
  if (!file || !file->pMethods || file->pMethods->xFileSize(file, &bytes) != SQLITE_OK)
    refuse("its size cannot be read: " + system_reason(errno) + "; check the disk");
  if (bytes == 0) return;
  std::array<char, 100> header{};
  const auto length = std::min(static_cast<std::size_t>(bytes), header.size());
  errno = 0;
  if (file->pMethods->xRead(file, header.data(), static_cast<int>(length), 0) != SQLITE_OK)
    refuse("cannot be read: " + system_reason(errno) + "; check the disk");
  const std::string_view start(header.data(), std::min(length, kMagic.size()));
  if (start != kMagic.substr(0, start.size()))
    refuse("is not an SQLite database; give another path, nothing was changed");
  if (length < header.size())
    refuse("is a truncated SQLite database (" + std::to_string(length) +
           " bytes, its header alone has 100); restore a copy");
}

}  // namespace tersor::results
