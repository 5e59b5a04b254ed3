// SPDX-License-Identifier: Apache-2.0
#include "results/query/reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string_view>

#include "common/error.hpp"
#include "results/db/database.hpp"
#include "results/query/names.hpp"
#include "results/query/watchdog.hpp"

namespace tersor::results {
namespace {

bool is_reading_pragma(const char* name, const char* argument) {
  constexpr std::array<std::string_view, 4> kWithoutArgument{"user_version", "application_id",
                                                             "schema_version", "compile_options"};
  constexpr std::array<std::string_view, 6> kOfOneTable{
      "table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"};
  const auto holds = [name](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view known) {
      return sqlite3_stricmp(known.data(), name) == 0;
    });
  };
  return holds(kOfOneTable) || (holds(kWithoutArgument) && argument == nullptr);
}

int authorize(void* /*context*/, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
      return sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    // SQLite asks for this when it declares a table-valued function such as pragma_table_info; a
    // statement that really writes there is refused all the same.
    case SQLITE_UPDATE:
      return sqlite3_stricmp(first, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA: return is_reading_pragma(first, second) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

int is_over(void* watchdog) {
  const auto* current = *static_cast<const Watchdog* const*>(watchdog);
  return current && current->is_over() ? 1 : 0;
}

Value value_of(const SQLite::Column& column) {
  switch (column.getType()) {
    case SQLITE_INTEGER: return column.getInt64();
    case SQLITE_FLOAT: return column.getDouble();
    case SQLITE_NULL: return std::monostate{};
    case SQLITE_TEXT: return column.getString();
    default: return Blob{column.getString()};
  }
}

void bind_value(SQLite::Statement& statement, int index, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    statement.bind(index, *integer);
  else if (const auto* real = std::get_if<double>(&value))
    statement.bind(index, *real);
  else if (const auto* text = std::get_if<std::string>(&value))
    statement.bind(index, *text);
  else if (const auto* blob = std::get_if<Blob>(&value))
    statement.bind(index, blob->bytes.data(), static_cast<int>(blob->bytes.size()));
  else
    statement.bind(index);
}

/// Column names, made different where SQL gave the same one twice ("a", "a_2").
std::vector<std::string> column_names(const SQLite::Statement& statement) {
  std::vector<std::string> names;
  for (int i = 0; i < statement.getColumnCount(); ++i) {
    const char* given = statement.getColumnName(i);
    const std::string base = given ? given : "";
    std::string name = base;
    for (int copy = 2; std::find(names.begin(), names.end(), name) != names.end(); ++copy)
      name = base + "_" + std::to_string(copy);
    names.push_back(name);
  }
  return names;
}

std::string in_mib(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// Keeps the rows, up to a sum of bytes.
class Collector : public RowSink {
 public:
  explicit Collector(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  void begin(const std::vector<std::string>& columns) override { result.columns = columns; }
  void row(std::vector<Value>&& values) override {
    bytes_ += static_cast<std::int64_t>(sizeof(values) + values.size() * sizeof(Value));
    for (const Value& value : values) {
      if (const auto* text = std::get_if<std::string>(&value))
        bytes_ += static_cast<std::int64_t>(text->size());
      if (const auto* blob = std::get_if<Blob>(&value))
        bytes_ += static_cast<std::int64_t>(blob->bytes.size());
    }
    if (bytes_ > most_bytes_)
      throw Error(ErrorKind::kDatabase,
                  "the result of the query has more than " + in_mib(most_bytes_) + " after " +
                      std::to_string(result.rows.size()) +
                      " rows: select less, or write it as csv or json, which keep no row");
    result.rows.push_back(std::move(values));
  }

  QueryResult result;

 private:
  std::int64_t most_bytes_;
  std::int64_t bytes_ = 0;
};

/// The reader looks at this watchdog until the end of the query.
class Watching {
 public:
  Watching(const Watchdog*& place, const Watchdog& watchdog) : place_(place) { place_ = &watchdog; }
  ~Watching() { place_ = nullptr; }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  const Watchdog*& place_;
};

}  // namespace

std::string overrun_message(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", seconds);
  return "the query was stopped after " + std::string(text.data()) +
         " s; give it more time with `tersor query --timeout`";
}

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

std::size_t QueryResult::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  TERSOR_CHECK(found != columns.end(), "no column '" + name + "'");
  return static_cast<std::size_t>(found - columns.begin());
}

struct Reader::Impl {
  std::filesystem::path path;
  ReadOnlyFile file;
  SQLite::Database& db;
  const Watchdog* watchdog = nullptr;  ///< of the query that runs

  explicit Impl(const std::filesystem::path& given)
      : path(given), file(open_for_reading(given)), db(file.db()) {
    // One snapshot for the reader's life: a report must not see half of a run that is being stored.
    with_database_errors(path, [this] { db.exec("BEGIN"); });
    sqlite3* handle = db.getHandle();
    sqlite3_set_authorizer(handle, authorize, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostValueBytes);
    sqlite3_hard_heap_limit64(heap_bytes() + kMostQueryHeapBytes);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    constexpr int kInstructionsBetweenChecks = 4000;
    sqlite3_progress_handler(handle, kInstructionsBetweenChecks, is_over, &watchdog);
  }

  /// A migrated copy of an older database is in memory, beside what queries need.
  static std::int64_t heap_bytes() { return sqlite3_memory_used(); }

  [[noreturn]] void fail(const SQLite::Exception& error, const std::string& sql, double seconds) {
    const int code = error.getErrorCode();
    const std::string what = error.what();
    if (code == SQLITE_INTERRUPT) throw Error(ErrorKind::kDatabase, overrun_message(seconds));
    if (code == SQLITE_AUTH || what.starts_with("not authorized"))
      throw Error(ErrorKind::kDatabase,
                  "refused: " + what +
                      " (a query may only read; use sqlite3 on a copy to change something)");
    if (code == SQLITE_NOMEM)
      throw Error(ErrorKind::kDatabase, "the query needs more memory than it may have (" +
                                            in_mib(kMostQueryHeapBytes) +
                                            ", or less by ulimit -v): group or sort fewer rows");
    if (code == SQLITE_TOOBIG)
      throw Error(ErrorKind::kDatabase, "the query makes a value of more than " +
                                            in_mib(kMostValueBytes) + ", the most that one may be");
    if (code == SQLITE_ERROR || code == SQLITE_MISMATCH)
      throw Error(ErrorKind::kDatabase, "SQL: " + what + hint(sql, what));
    throw database_error(path, error);
  }

  /// The nearest names, or the damaged row, where the schema can be read.
  std::string hint(const std::string& sql, const std::string& what) {
    try {
      return names_hint(db, sql, what) + damaged_json_hint(db, what);
    } catch (const SQLite::Exception& error) {
      return std::string(" (and the schema cannot be read: ") + error.what() + ")";
    }
  }

  /// SQLiteCpp's Statement ignores what follows the first statement, so this looks at all of it.
  void check(const std::string& sql) {
    struct Finalize {
      void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    sqlite3_stmt* raw = nullptr;
    const char* rest = nullptr;
    const auto prepare = [&](const char* from) {
      const auto length = static_cast<int>(sql.data() + sql.size() - from);
      return sqlite3_prepare_v2(db.getHandle(), from, length, &raw, &rest);
    };
    int code = prepare(sql.data());
    const std::unique_ptr<sqlite3_stmt, Finalize> first(raw);
    if (code != SQLITE_OK) throw SQLite::Exception(db.getHandle(), code);
    if (!first) throw Error(ErrorKind::kDatabase, "SQL: the statement is empty");
    if (!sqlite3_stmt_readonly(first.get()))
      throw Error(ErrorKind::kDatabase, "refused: the statement writes, a query may only read");
    code = prepare(rest);
    const std::unique_ptr<sqlite3_stmt, Finalize> second(raw);
    if (second || code != SQLITE_OK)
      throw Error(ErrorKind::kDatabase, "SQL: one statement at a time; nothing may follow the ';'");
  }
};

Reader::Reader(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const std::filesystem::path& Reader::path() const { return impl_->path; }

bool Reader::stream(const std::string& sql, RowSink& sink, const QueryLimits& limits,
                    const std::vector<Value>& parameters) {
  Watchdog watchdog(limits.seconds, limits.on_overrun);
  const Watching watching(impl_->watchdog, watchdog);
  forget_system_error();
  try {
    impl_->check(sql);
    SQLite::Statement statement(impl_->db, sql);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      bind_value(statement, static_cast<int>(i) + 1, parameters[i]);
    const std::vector<std::string> columns = column_names(statement);
    sink.begin(columns);
    for (std::int64_t rows = 0; statement.executeStep(); ++rows) {
      if (limits.rows > 0 && rows == limits.rows) return true;
      std::vector<Value> row;
      for (std::size_t i = 0; i < columns.size(); ++i)
        row.push_back(value_of(statement.getColumn(static_cast<int>(i))));
      watchdog.pause();
      sink.row(std::move(row));
      watchdog.resume();
    }
    impl_->file.expect_unchanged();
    return false;
  } catch (const SQLite::Exception& error) {
    impl_->fail(error, sql, limits.seconds);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kDatabase,
                "out of memory: the result of the query is larger than this machine or its limits "
                "(ulimit -v) allow; select less, or write it as csv or json");
  }
}

QueryResult Reader::query(const std::string& sql, const QueryLimits& limits,
                          const std::vector<Value>& parameters) {
  Collector collector(limits.bytes);
  collector.result.is_cut = stream(sql, collector, limits, parameters);
  return std::move(collector.result);
}

}  // namespace tersor::results
