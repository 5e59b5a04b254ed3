// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tersor::protocol {

// A struct for each part of the table: CompressionFields, HardwareFields, ...
// clang-format off
#define TERSOR_PART(fields, member, object) struct fields {
#define TERSOR_PART_END };
#define TERSOR_FIELD(type, member, initial, ...) type member = initial;
#define TERSOR_FIELD_AS(key, type, member, initial, ...) type member = initial;
#define TERSOR_SITE(...)
// clang-format on
#include "protocol/cell_fields.def"

/// Where a cell runs: one row of a hardware profile (harness/hardware/profiles/NAME.json).
struct Hardware : HardwareFields {
  bool emulated() const { return kind == "emulated"; }
  /// Processes that the launcher starts: 1 when emulated, else tp * pp.
  int processes() const { return emulated() ? 1 : tp * pp; }
};

/// Everything that decides a run but the seed: what a matrix file says after defaults, presets and
/// canonical specs. Its members are the lines of protocol/cell_fields.def.
struct Cell {
  struct Compression : CompressionFields {
    /// Site -> canonical spec. The sites `tp` and `tp.backward` are always there.
    std::map<std::string, std::string> codecs{{"tp", "none"}, {"tp.backward", "none"}};
  };
  using Parallelism = ParallelismFields;
  using Data = DataFields;
  using Model = ModelFields;
  using Training = TrainingFields;

  Compression compression;
  Hardware hardware;
  Parallelism parallelism;
  Data data;
  Model model;
  Training training;
};

/// The cell as the worker and the database get it, fields in the table's order. A field is left out
/// where it has the value that cells had before the field existed.
nlohmann::ordered_json to_json(const Cell& cell);

/// Reads what to_json wrote, or a person: what is left out has the value from before the field
/// existed, else its default. Throws Error(kUsage) on an unknown key (with the nearest known one),
/// a wrong type or a value out of range.
Cell cell_from_json(const nlohmann::json& json);

/// The JSON of a cell without the fields that are as they were before they existed. Equal cells
/// have equal texts, whichever version of tersor wrote them.
nlohmann::json identity(const nlohmann::json& cell);

/// 16 hex digits: XXH64 of the compact text of identity(), a line feed, and codec and wire versions
/// (given as text).
std::string cell_key(const nlohmann::json& cell, const std::string& versions);
std::string cell_key(const Cell& cell, const std::string& versions);

}  // namespace tersor::protocol
