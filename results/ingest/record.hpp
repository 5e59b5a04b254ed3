// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::results {

/// A number of a spool: none where it was not finite.
using Number = std::optional<double>;

/// One line of a spool, read field by field. Every complaint is Error(kData) "FILE:LINE:COLUMN:
/// ..." with the column of the field's name (or of the JSON mistake).
class Record {
 public:
  /// Parses the line, which must be a JSON object with a string `type`.
  Record(std::string_view line, std::string file, int line_number);

  const std::string& type() const { return type_; }
  bool has(const char* key) const;

  std::int64_t integer(const char* key, std::int64_t least = 0) const;
  std::optional<std::int64_t> optional_integer(const char* key, std::int64_t least = 0) const;
  std::uint64_t unsigned_integer(const char* key) const;
  std::string text(const char* key) const;
  std::string text_or(const char* key, const std::string& otherwise) const;
  std::string choice(const char* key, std::initializer_list<const char*> choices) const;
  /// A number, or null in an object that says "nonfinite": true.
  Number number(const char* key) const;
  /// Missing and null are both none.
  Number optional_number(const char* key) const;
  const nlohmann::json& object(const char* key) const;
  /// object(key) or an empty object where it is missing or null.
  const nlohmann::json& optional_object(const char* key) const;
  /// An array of numbers; null stands for NaN.
  std::vector<double> numbers(const char* key) const;
  /// A member of object(outer), with its own or the record's nonfinite mark.
  Number member_number(const char* outer, const std::string& key) const;
  std::int64_t member_integer(const char* outer, const char* key) const;

  [[noreturn]] void fail(const char* key, const std::string& message) const;

 private:
  const nlohmann::json& field(const char* key) const;
  bool is_nonfinite() const;

  std::string line_;
  std::string file_;
  int line_number_;
  nlohmann::json object_;
  std::string type_;
};

}  // namespace tersor::results
