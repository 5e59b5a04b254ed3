// SPDX-License-Identifier: Apache-2.0
#include "results/query/where.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "common/error.hpp"

namespace tersor::results {
namespace {

/// Nothing but columns, functions and the SELECT around the expression.
int authorize(void* selects, int action, const char* /*first*/, const char* /*second*/,
              const char* /*database*/, const char* /*view*/) {
  if (action == SQLITE_SELECT) return ++*static_cast<int*>(selects) > 1 ? SQLITE_DENY : SQLITE_OK;
  return action == SQLITE_READ || action == SQLITE_FUNCTION ? SQLITE_OK : SQLITE_DENY;
}

/// SQLite's parser judges the text, on an empty table of its own: as a condition, then as a value,
/// where no clause can follow a stray ')'.
class Checker {
 public:
  Checker(std::string_view text, const std::vector<std::string>& columns)
      : text_(text), columns_(columns) {
    std::string table = "CREATE TABLE shown (";
    for (const std::string& column : columns)
      table += (&column == columns.data() ? "\"" : ", \"") + column + "\"";
    db_.exec(table + ")");
    sqlite3_set_authorizer(db_.getHandle(), authorize, &selects_);
    sqlite3_db_config(db_.getHandle(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  }

  void check() {
    if (const auto at = text_.find('\0'); at != std::string_view::npos) fail("a NUL byte", at);
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) fail("is empty", 0);
    prepare("SELECT 1 AS value FROM shown WHERE (\n", "\n)");
    prepare("SELECT (\n", "\n) AS value FROM shown");
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::optional<std::size_t> at = {}) const {
    std::string shown(text_);
    std::replace(shown.begin(), shown.end(), '\0', '?');
    throw Error(ErrorKind::kUsage,
                "where '" + shown +
                    "': " + (at ? "column " + std::to_string(*at + 1) + ": " : std::string()) +
                    what + " (give one SQL expression over the columns, e.g. dataset = 'sst2')",
                at ? static_cast<int>(*at) + 1 : 0);
  }

  void prepare(const std::string& before, const std::string& after) {
    const std::string sql = before + std::string(text_) + after;
    selects_ = 0;
    sqlite3_stmt* raw = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(db_.getHandle(), sql.c_str(), -1, &raw, &rest);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(raw,
                                                                               sqlite3_finalize);
    if (selects_ > 1) fail("a SELECT of its own");
    if (code != SQLITE_OK) refuse(before.size());
    if (*rest != '\0')
      fail("';' ends a statement",
           static_cast<std::size_t>(rest - sql.c_str()) - before.size() - 1);
    // Also where a comment without an end has taken what follows the text.
    if (sqlite3_column_count(raw) != 1 || sqlite3_column_name(raw, 0) != std::string_view("value"))
      fail("is more than one expression");
    if (sqlite3_bind_parameter_count(raw) > 0) fail("a parameter: there are none");
  }

  [[noreturn]] void refuse(std::size_t begin) const {
    const std::string what = sqlite3_errmsg(db_.getHandle());
    const int offset = sqlite3_error_offset(db_.getHandle());
    const std::size_t at = offset < 0 ? text_.size() : static_cast<std::size_t>(offset) - begin;
    if (what == "incomplete input" || (offset >= 0 && at >= text_.size()))
      fail("ends too early", text_.size());
    if (offset < 0) fail(what);
    if (what.starts_with("unrecognized token") && (text_[at] == '\'' || text_[at] == '"'))
      fail(std::string("the text after ") + text_[at] + " has no end", at);
    if (!what.starts_with("no such column")) fail(what, at);
    std::string list;
    for (const std::string& column : columns_) list += (list.empty() ? "" : ", ") + column;
    fail(what + "; quote text as '...'; columns: " + list, at);
  }

  std::string_view text_;
  const std::vector<std::string>& columns_;
  int selects_ = 0;
  SQLite::Database db_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

}  // namespace

void check_expression(std::string_view text, const std::vector<std::string>& columns) {
  Checker(text, columns).check();
}

}  // namespace tersor::results
