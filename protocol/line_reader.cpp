// SPDX-License-Identifier: Apache-2.0
#include "protocol/line_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/error.hpp"
#include "common/json_parse.hpp"
#include "protocol/field_values.hpp"

namespace tersor::protocol {
namespace {

using json = nlohmann::ordered_json;  // the order of fields is part of a record

[[noreturn]] void fail_at(const std::string& file, int line, std::size_t column,
                          const std::string& message) {
  throw Error(ErrorKind::kData,
              file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message,
              static_cast<int>(column));
}

std::string shown(const json& value) { return protocol::shown(nlohmann::json(value)); }

/// 1-based place of the name of a field, 1 where it is not there.
std::size_t column_of(std::string_view line, const char* key) {
  const std::string name = '"' + std::string(key) + '"';
  for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const auto next = line.find_first_not_of(" \t", at + name.size());
    if (next != std::string_view::npos && line[next] == ':') return at + 1;
  }
  return 1;
}

bool is_marked(const json& object) {
  const auto found = object.find("nonfinite");
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

LineReader::LineReader(std::string_view line, std::string file, int line_number)
    : line_(line), file_(std::move(file)), line_number_(line_number) {
  object_ = parse_json<json>(line_, file_, line_number_);
  if (!object_.is_object())
    fail_at(file_, line_number_, 1, "expected a JSON object, got " + shown(object_));
}

void LineReader::fail(const char* key, const std::string& message) const {
  const auto type = object_.find("type");
  const bool has_type = type != object_.end() && type->is_string();
  fail_at(file_, line_number_, column_of(line_, key),
          (has_type ? "record '" + type->get<std::string>() + "': " : std::string()) + "'" + key +
              "' " + message);
}

bool LineReader::has(const char* key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

const json& LineReader::field(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) fail(key, "is missing");
  return *found;
}

std::int64_t LineReader::integer(const char* key, std::int64_t least) const {
  const json& value = field(key);
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<std::uint64_t>() >
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) &&
                    value.get<std::int64_t>() >= least;
  if (!fits)
    fail(key, "must be a whole number from " + std::to_string(least) + ", got " + shown(value));
  return value.get<std::int64_t>();
}

std::optional<std::int64_t> LineReader::optional_integer(const char* key,
                                                         std::int64_t least) const {
  if (!has(key)) return std::nullopt;
  return integer(key, least);
}

std::uint64_t LineReader::unsigned_integer(const char* key) const {
  const json& value = field(key);
  if (!value.is_number_unsigned())
    fail(key, "must be an unsigned whole number, got " + shown(value));
  return value.get<std::uint64_t>();
}

std::string LineReader::text(const char* key) const {
  const json& value = field(key);
  if (!value.is_string()) fail(key, "must be a string, got " + shown(value));
  return value.get<std::string>();
}

std::string LineReader::text_or(const char* key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::string LineReader::choice(const char* key, std::initializer_list<const char*> choices) const {
  const std::string value = text(key);
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
  std::string list;
  for (const char* known : choices) list += (list.empty() ? "" : ", ") + std::string(known);
  fail(key, "must be one of " + list + ", got " + shown(field(key)));
}

Number LineReader::number(const char* key) const {
  const json& value = field(key);
  if (value.is_null() && is_marked(object_)) return std::nullopt;
  if (!value.is_number())
    fail(key, "must be a number (null only beside \"nonfinite\": true), got " + shown(value));
  return value.get<double>();
}

const json& LineReader::object(const char* key) const {
  const json& value = field(key);
  if (!value.is_object()) fail(key, "must be an object, got " + shown(value));
  return value;
}

const json& LineReader::optional_object(const char* key) const {
  static const json nothing = json::object();
  return has(key) ? object(key) : nothing;
}

std::vector<double> LineReader::numbers(const char* key) const {
  const json& value = field(key);
  if (!value.is_array()) fail(key, "must be an array, got " + shown(value));
  std::vector<double> values;
  values.reserve(value.size());
  for (const json& item : value) {
    if (item.is_number())
      values.push_back(item.get<double>());
    else if (item.is_null())
      values.push_back(std::numeric_limits<double>::quiet_NaN());
    else
      fail(key, "item " + std::to_string(values.size()) + " must be a number, got " + shown(item));
  }
  return values;
}

std::int64_t LineReader::member_integer(const char* outer, const char* key) const {
  const json& owner = object(outer);
  const auto found = owner.find(key);
  if (found == owner.end()) fail(outer, std::string("lacks '") + key + "'");
  if (!found->is_number_integer() || found->get<std::int64_t>() < 0)
    fail(key, "must be a whole number from 0, got " + shown(*found));
  return found->get<std::int64_t>();
}

std::vector<std::pair<std::string, Number>> LineReader::member_numbers(const char* outer) const {
  const json& owner = object(outer);
  const bool may_be_null = is_marked(object_) || is_marked(owner);
  std::vector<std::pair<std::string, Number>> numbers;
  for (const auto& [key, value] : owner.items()) {
    if (key == "nonfinite") continue;
    if (!value.is_number() && !(value.is_null() && may_be_null))
      fail(key.c_str(),
           "must be a number (null only beside \"nonfinite\": true), got " + shown(value));
    numbers.emplace_back(key, value.is_null() ? Number() : value.get<double>());
  }
  return numbers;
}

}  // namespace tersor::protocol
