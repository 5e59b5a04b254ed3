// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/record.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/error.hpp"

namespace tersor::results {
namespace {

using nlohmann::json;

[[noreturn]] void fail_at(const std::string& file, int line, std::size_t column,
                          const std::string& message) {
  throw Error(ErrorKind::kData,
              file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message,
              static_cast<int>(column));
}

std::string shown(const json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

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

Record::Record(std::string_view line, std::string file, int line_number)
    : line_(line), file_(std::move(file)), line_number_(line_number) {
  try {
    object_ = json::parse(line_);
  } catch (const json::parse_error& error) {
    const std::string what = error.what();
    const auto reason = what.find("syntax error");
    fail_at(file_, line_number_, std::max<std::size_t>(error.byte, 1),
            "not JSON: " + (reason == std::string::npos ? what : what.substr(reason)));
  } catch (const json::out_of_range&) {
    fail_at(file_, line_number_, 1, "a number is too large for JSON's binary64");
  }
  if (!object_.is_object())
    fail_at(file_, line_number_, 1, "expected a JSON object, got " + shown(object_));
  type_ = text("type");
}

void Record::fail(const char* key, const std::string& message) const {
  fail_at(
      file_, line_number_, column_of(line_, key),
      (type_.empty() ? std::string() : "record '" + type_ + "': ") + "'" + key + "' " + message);
}

bool Record::has(const char* key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

const json& Record::field(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) fail(key, "is missing");
  return *found;
}

bool Record::is_nonfinite() const { return is_marked(object_); }

std::int64_t Record::integer(const char* key, std::int64_t least) const {
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

std::optional<std::int64_t> Record::optional_integer(const char* key, std::int64_t least) const {
  if (!has(key)) return std::nullopt;
  return integer(key, least);
}

std::uint64_t Record::unsigned_integer(const char* key) const {
  const json& value = field(key);
  if (!value.is_number_unsigned())
    fail(key, "must be an unsigned whole number, got " + shown(value));
  return value.get<std::uint64_t>();
}

std::string Record::text(const char* key) const {
  const json& value = field(key);
  if (!value.is_string()) fail(key, "must be a string, got " + shown(value));
  return value.get<std::string>();
}

std::string Record::text_or(const char* key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::string Record::choice(const char* key, std::initializer_list<const char*> choices) const {
  const std::string value = text(key);
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
  std::string list;
  for (const char* known : choices) list += (list.empty() ? "" : ", ") + std::string(known);
  fail(key, "must be one of " + list + ", got " + shown(field(key)));
}

Number Record::number(const char* key) const {
  const json& value = field(key);
  if (value.is_null() && is_nonfinite()) return std::nullopt;
  if (!value.is_number())
    fail(key, "must be a number (null only beside \"nonfinite\": true), got " + shown(value));
  return value.get<double>();
}

Number Record::optional_number(const char* key) const {
  if (!has(key)) return std::nullopt;
  return number(key);
}

const json& Record::object(const char* key) const {
  const json& value = field(key);
  if (!value.is_object()) fail(key, "must be an object, got " + shown(value));
  return value;
}

const json& Record::optional_object(const char* key) const {
  static const json nothing = json::object();
  return has(key) ? object(key) : nothing;
}

std::vector<double> Record::numbers(const char* key) const {
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

Number Record::member_number(const char* outer, const std::string& key) const {
  const json& owner = object(outer);
  const json& value = owner.at(key);
  if (value.is_number()) return value.get<double>();
  if (value.is_null() && (is_nonfinite() || is_marked(owner))) return std::nullopt;
  fail(key.c_str(), "must be a number (null only beside \"nonfinite\": true), got " + shown(value));
}

std::int64_t Record::member_integer(const char* outer, const char* key) const {
  const json& owner = object(outer);
  const auto found = owner.find(key);
  if (found == owner.end()) fail(outer, std::string("lacks '") + key + "'");
  if (!found->is_number_integer() || found->get<std::int64_t>() < 0)
    fail(key, "must be a whole number from 0, got " + shown(*found));
  return found->get<std::int64_t>();
}

}  // namespace tersor::results
