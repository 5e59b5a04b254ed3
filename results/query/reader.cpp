// SPDX-License-Identifier: Apache-2.0
#include "results/query/reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>

#include "common/error.hpp"
#include "results/db/database.hpp"

namespace tersor::results {
namespace {

using Clock = std::chrono::steady_clock;

/// One value may not be larger: a query cannot fill the memory with a single string.
constexpr int kLongestValueBytes = 256 << 20;

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

struct Deadline {
  std::optional<Clock::time_point> at;
};

int check_deadline(void* context) {
  const auto* deadline = static_cast<const Deadline*>(context);
  return deadline->at && Clock::now() >= *deadline->at ? 1 : 0;
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

}  // namespace

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
  Deadline deadline;

  explicit Impl(const std::filesystem::path& given)
      : path(given), file(open_for_reading(given)), db(file.db()) {
    // One snapshot for the reader's life: a report must not see half of a run that is being stored.
    with_database_errors(path, [this] { db.exec("BEGIN"); });
    sqlite3* handle = db.getHandle();
    sqlite3_set_authorizer(handle, authorize, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    constexpr int kInstructionsBetweenChecks = 4000;
    sqlite3_progress_handler(handle, kInstructionsBetweenChecks, check_deadline, &deadline);
  }

  [[noreturn]] void fail(const SQLite::Exception& error, double seconds) {
    const int code = error.getErrorCode();
    if (code == SQLITE_INTERRUPT) {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "%g", seconds);
      throw Error(ErrorKind::kDatabase, "the query was stopped after " + std::string(text.data()) +
                                            " s; give it more time with --timeout");
    }
    const std::string what = error.what();
    if (code == SQLITE_AUTH || what.starts_with("not authorized"))
      throw Error(ErrorKind::kDatabase,
                  "refused: " + what +
                      " (a query may only read; use sqlite3 on a copy to change something)");
    if (code == SQLITE_ERROR || code == SQLITE_TOOBIG || code == SQLITE_MISMATCH)
      throw Error(ErrorKind::kDatabase, "SQL: " + what);
    throw database_error(path, error);
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

QueryResult Reader::query(const std::string& sql, const QueryLimits& limits,
                          const std::vector<Value>& parameters) {
  impl_->deadline.at.reset();
  if (limits.seconds > 0)
    impl_->deadline.at =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(std::min(limits.seconds, 1e9)));
  forget_system_error();
  try {
    impl_->check(sql);
    SQLite::Statement statement(impl_->db, sql);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      bind_value(statement, static_cast<int>(i) + 1, parameters[i]);
    QueryResult result;
    result.columns = column_names(statement);
    while (statement.executeStep()) {
      if (limits.rows > 0 && static_cast<std::int64_t>(result.rows.size()) == limits.rows) {
        result.is_cut = true;
        break;
      }
      std::vector<Value> row;
      for (std::size_t i = 0; i < result.columns.size(); ++i)
        row.push_back(value_of(statement.getColumn(static_cast<int>(i))));
      result.rows.push_back(std::move(row));
    }
    impl_->file.expect_unchanged();
    return result;
  } catch (const SQLite::Exception& error) {
    impl_->fail(error, limits.seconds);
  }
}

}  // namespace tersor::results
