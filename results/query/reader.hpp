// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tersor::results {

struct Blob {
  std::string bytes;
  bool operator==(const Blob&) const = default;
};
/// One value of a result: NULL, INTEGER, REAL, TEXT or BLOB.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

bool is_null(const Value& value);

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
  bool is_cut = false;  ///< there were more rows than the limit

  /// Position of a column; throws Error(kInternal) where there is none.
  std::size_t column(const std::string& name) const;
};

struct QueryLimits {
  std::int64_t rows = 0;  ///< 0: all
  double seconds = 0;     ///< 0: no limit
};

/// The read side of a results database. The file is opened read-only, and an authorizer lets
/// nothing through but reading: no write, ATTACH, PRAGMA that sets something, or extension. All
/// queries of one reader see the same snapshot, that of its first one.
class Reader {
 public:
  /// See open_for_reading.
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  /// Runs one statement. Throws Error(kDatabase) on a mistake in the SQL, on more than one
  /// statement, on anything that is not reading, and past the time limit. `parameters` are bound to
  /// ?1, ?2, ...
  QueryResult query(const std::string& sql, const QueryLimits& limits = {},
                    const std::vector<Value>& parameters = {});

  const std::filesystem::path& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tersor::results
