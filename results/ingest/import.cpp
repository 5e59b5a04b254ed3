// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/import.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <new>
#include <system_error>

#include "common/error.hpp"
#include "common/files.hpp"
#include "results/db/database.hpp"
#include "results/db/facts.hpp"
#include "results/ingest/measured_file.hpp"
#include "results/stats/stats.hpp"
#include "results/text.hpp"

namespace tersor::results {
namespace {

using nlohmann::json;

template <class Value>
json json_of(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

std::int64_t insert(SQLite::Database& db, const std::string& table,
                    const std::vector<std::pair<const char*, json>>& columns) {
  std::string names;
  std::string placeholders;
  for (const auto& [name, value] : columns) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    placeholders += placeholders.empty() ? "?" : ", ?";
  }
  SQLite::Statement add(db,
                        "INSERT INTO " + table + " (" + names + ") VALUES (" + placeholders + ")");
  int index = 0;
  for (const auto& [name, value] : columns) bind_json(add, ++index, value);
  add.exec();
  return db.getLastInsertRowid();
}

void add_quantity(SQLite::Database& db, std::int64_t case_id, const MeasuredQuantity& quantity) {
  const Summary s = summarize(quantity.values);
  insert(db, "imported_value",
         {{"case_id", case_id},
          {"quantity", quantity.name},
          {"unit", quantity.unit},
          {"n", s.n},
          {"min", s.min},
          {"q1", s.q1},
          {"median", s.median},
          {"q3", s.q3},
          {"max", s.max},
          {"mean", s.mean},
          {"sd", json_of(s.sd)},
          {"ci_low", json_of(s.ci_low)},
          {"ci_high", json_of(s.ci_high)}});
}

void add_case(SQLite::Database& db, std::int64_t file_id, std::int64_t place,
              const MeasuredCase& one) {
  const std::int64_t id =
      insert(db, "imported_case",
             {{"file_id", file_id},
              {"place", place},
              {"name", one.name},
              {"operation", one.operation},
              {"spec", json_of(one.spec)},
              {"dtype", json_of(one.dtype)},
              {"samples", json_of(one.samples)},
              {"tokens", json_of(one.tokens)},
              {"hidden", json_of(one.hidden)},
              {"device", json_of(one.device)},
              {"ranks", json_of(one.ranks)},
              {"mode", json_of(one.mode)},
              {"status", to_string(one.status)},
              {"reason", one.reason},
              {"is_equal", json_of(one.is_equal)},
              {"facts", one.facts.dump(-1, ' ', false, json::error_handler_t::replace)}});
  for (const MeasuredQuantity& quantity : one.quantities) add_quantity(db, id, quantity);
}

void add_file(SQLite::Database& db, const MeasuredFile& file, const std::string& name,
              const std::string& text) {
  const auto optional_id = [&](const json& facts, auto add) {
    return facts.is_object() && !facts.empty() ? json(add(db, facts)) : json(nullptr);
  };
  const std::int64_t id =
      insert(db, "imported_file",
             {{"hash", hash_of(text)},
              {"kind", file.kind},
              {"name", name},
              {"bytes", text.size()},
              {"is_synthetic", file.is_synthetic},
              {"measured_at", json_of(file.measured_at)},
              {"imported_at", utc_now()},
              {"program", json_of(file.program)},
              {"hardware_id", optional_id(file.hardware, add_hardware)},
              {"environment_id", optional_id(file.environment, add_environment)},
              {"context", file.context.dump(-1, ' ', false, json::error_handler_t::replace)},
              {"text", text}});
  std::int64_t place = 0;
  for (const MeasuredCase& one : file.cases) add_case(db, id, place++, one);
}

bool is_there(SQLite::Database& db, const std::string& hash) {
  SQLite::Statement find(db, "SELECT 1 FROM imported_file WHERE hash = ?");
  find.bind(1, hash);
  return find.executeStep();
}

std::string read_measured_text(const std::filesystem::path& path) {
  const auto refuse = [&](std::uintmax_t bytes) {
    throw Error(ErrorKind::kData, path.string() + ": has " + std::to_string(bytes >> 20) +
                                      " MiB; a file of measurements has at most " +
                                      std::to_string(kMostImportBytes >> 20) + " MiB");
  };
  std::error_code code;
  const std::uintmax_t stated = std::filesystem::file_size(path, code);
  if (!code && stated > kMostImportBytes) refuse(stated);
  const auto bytes = read_file(path);  // says what is no file
  if (bytes.size() > kMostImportBytes) refuse(bytes.size());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ImportResult store_file(const std::filesystem::path& database, const std::filesystem::path& path) {
  const std::string text = read_measured_text(path);
  const MeasuredFile file = parse_measured_file(text, path.string());
  ImportResult result;
  result.kind = file.kind;
  result.fits = file.fits;
  for (const MeasuredCase& one : file.cases) {
    ++result.cases;
    ++(one.status == protocol::Status::kOk       ? result.ok
       : one.status == protocol::Status::kFailed ? result.failed
                                                 : result.skipped);
  }
  return with_database_errors(database, [&] {
    SQLite::Database db = open_for_writing(database);
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    result.was_there = is_there(db, hash_of(text));
    if (!result.was_there) add_file(db, file, path.filename().string(), text);
    transaction.commit();
    return result;
  });
}

}  // namespace

ImportResult import_file(const std::filesystem::path& database, const std::filesystem::path& path) {
  try {
    return store_file(database, path);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kData, path.string() +
                                      ": out of memory: the file and its values are larger than "
                                      "this machine or its limits (ulimit -v) allow");
  }
}

}  // namespace tersor::results
