// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
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

/// One value may not be larger, whatever the limits of a query say.
inline constexpr int kMostValueBytes = 64 << 20;
/// What SQLite may allocate for the queries of a process, sorting and grouping included.
inline constexpr std::int64_t kMostQueryHeapBytes = std::int64_t{1} << 30;

struct QueryLimits {
  std::int64_t rows = 0;  ///< 0: all
  double seconds = 0;     ///< of the query alone, without what a sink takes; 0: no limit
  /// Of the values of a result that is kept; what a sink takes has none.
  std::int64_t bytes = std::int64_t{1} << 30;
  /// Called on another thread where one SQL function is still computing half a second after the
  /// deadline, which nothing can interrupt: should report and end the process.
  std::function<void()> on_overrun{};
};

/// What is said of a query that reached its deadline.
std::string overrun_message(double seconds);

/// Takes a result row by row.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void begin(const std::vector<std::string>& columns) = 0;
  virtual void row(std::vector<Value>&& values) = 0;
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
  /// statement, on anything that is not reading, and past a limit. `parameters` are bound to ?1,
  /// ?2, ...
  QueryResult query(const std::string& sql, const QueryLimits& limits = {},
                    const std::vector<Value>& parameters = {});

  /// The same, row by row. Returns whether there were more rows than the limit.
  bool stream(const std::string& sql, RowSink& sink, const QueryLimits& limits = {},
              const std::vector<Value>& parameters = {});

  const std::filesystem::path& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tersor::results
