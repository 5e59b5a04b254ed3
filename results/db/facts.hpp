// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace tersor::results {

/// Binds a JSON value: null and a missing one as NULL, booleans as 0 or 1, objects and arrays as
/// their text.
void bind_json(SQLite::Statement& statement, int index, const nlohmann::json& value);
/// object[key], or null where it is missing.
const nlohmann::json& field_or_null(const nlohmann::json& object, const char* key);

/// Each of these finds the row of equal facts by its hash, or adds it, and returns its id.
std::int64_t add_hardware(SQLite::Database& db, const nlohmann::json& facts);
std::int64_t add_environment(SQLite::Database& db, const nlohmann::json& facts);
std::int64_t add_dataset(SQLite::Database& db, const nlohmann::json& facts);
/// The hash of initial weights depends on the seed and stays with the run (run.init_hash).
std::int64_t add_model(SQLite::Database& db, const nlohmann::json& facts);
/// `facts` is what compressors::describe gives: name, version, variant, spec, params, properties,
/// and strength, stronger, is_reference, which are stored anew each time.
std::int64_t add_codec(SQLite::Database& db, const nlohmann::json& facts);
/// The code that this program was built from.
std::int64_t add_own_code(SQLite::Database& db);

/// Adds the cell with its typed axes where its key is new, and its codecs by site.
std::int64_t add_cell_row(SQLite::Database& db, const std::string& cell_key,
                          const nlohmann::ordered_json& config, const nlohmann::json& codecs);

/// How tables name a cell's compressor: the spec at `tp` (else at the first site), then "; site =
/// spec" for every other site that is neither `none` nor, at `pp`, the same.
std::string codec_label(const nlohmann::ordered_json& compressor);

}  // namespace tersor::results
