// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tersor::protocol {

/// A number of a spool: none where it was not finite.
using Number = std::optional<double>;

/// One JSON line, read field by field. Every complaint is Error(kData) "FILE:LINE:COLUMN: ..." with
/// the column of the field's name (or of the JSON mistake).
class LineReader {
 public:
  /// Parses the line, which must be a JSON object.
  LineReader(std::string_view line, std::string file, int line_number);

  std::string type() const { return text("type"); }
  /// The field is there and not null.
  bool has(const char* key) const;
  /// The field is there.
  bool contains(const char* key) const { return object_.contains(key); }

  std::int64_t integer(const char* key, std::int64_t least = 0) const;
  std::optional<std::int64_t> optional_integer(const char* key, std::int64_t least = 0) const;
  std::uint64_t unsigned_integer(const char* key) const;
  std::string text(const char* key) const;
  std::string text_or(const char* key, const std::string& otherwise) const;
  std::string choice(const char* key, std::initializer_list<const char*> choices) const;
  /// A number, or null in an object that says "nonfinite": true.
  Number number(const char* key) const;
  const nlohmann::ordered_json& object(const char* key) const;
  /// object(key) or an empty object where it is missing or null.
  const nlohmann::ordered_json& optional_object(const char* key) const;
  /// An array of numbers; null stands for NaN.
  std::vector<double> numbers(const char* key) const;
  std::int64_t member_integer(const char* outer, const char* key) const;
  /// The numbers of object(outer), each with its own or the record's mark.
  std::vector<std::pair<std::string, Number>> member_numbers(const char* outer) const;

  [[noreturn]] void fail(const char* key, const std::string& message) const;

 private:
  const nlohmann::ordered_json& field(const char* key) const;

  std::string line_;
  std::string file_;
  int line_number_;
  nlohmann::ordered_json object_;
};

}  // namespace tersor::protocol
