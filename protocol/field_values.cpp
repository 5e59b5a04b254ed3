// SPDX-License-Identifier: Apache-2.0
#include "protocol/field_values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "common/number.hpp"
#include "protocol/choices.hpp"

namespace tersor::protocol {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

[[noreturn]] void mistyped(const std::string& name, const std::string& expected,
                           const json& given) {
  fail(name + " must be " + expected + ", got " + shown(given));
}

std::string canonical_layers(const std::string& text) { return text_of(parse_layers(text)); }
std::string canonical_warmup(const std::string& text) { return text_of(parse_warmup(text)); }
std::string canonical_partition(const std::string& text) {
  return text_of_partition(parse_partition(text));
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", value);
  return text.data();
}

std::string range_text(const Values& values) {
  std::string text = "[";
  text.append(number_text(values.low)).append(", ").append(number_text(values.high));
  return text + (values.is_half_open ? ')' : ']');
}

json checked_text(const json& given, const Values& values, const std::string& name) {
  if (values.canonical) {
    if (!given.is_string() && !given.is_number_integer()) mistyped(name, values.form, given);
    return values.canonical(given.is_string() ? given.get<std::string>() : given.dump());
  }
  if (!given.is_string()) mistyped(name, "a string", given);
  const auto text = given.get<std::string>();
  const auto& choices = values.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end())
    fail(name + " '" + text + "' is unknown" + known_names_hint(text, choices));
  if (text.empty() && !values.may_be_empty) fail(name + " is empty");
  return text;
}

json checked_whole(const json& given, const Values& values, const std::string& name) {
  if (!given.is_number_integer()) mistyped(name, "a whole number", given);
  const bool is_huge = given.is_number_unsigned() &&
                       given.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  const std::int64_t value = is_huge ? INT64_MAX : given.get<std::int64_t>();
  if (is_huge || value < static_cast<std::int64_t>(values.low) ||
      value > static_cast<std::int64_t>(values.high))
    fail(name + " " + shown(given) + " not in " + range_text(values));
  return value;
}

json checked_real(const json& given, const Values& values, const std::string& name) {
  if (!given.is_number()) mistyped(name, "a number", given);
  const double value = given.get<double>();
  const bool is_in =
      value >= values.low && (values.is_half_open ? value < values.high : value <= values.high);
  if (!is_in) fail(name + " " + shown(given) + " not in " + range_text(values));
  return value + 0.0;  // -0 becomes 0: one value, one key
}

}  // namespace

Values not_empty() { return {}; }
Values any_text() { return {.may_be_empty = true}; }
Values one_of(std::vector<std::string> choices) { return {.choices = std::move(choices)}; }
Values from(double low, double high) { return {.low = low, .high = high}; }
Values below(double low, double high) { return {.low = low, .high = high, .is_half_open = true}; }
Values flag() { return {}; }
Values layers_form() {
  return {.canonical = canonical_layers, .form = "all, none, last:N, first:N or A-B"};
}
Values warmup_form() {
  return {.canonical = canonical_warmup, .form = "\"N\" (steps) or \"N epochs\""};
}

Values partition_form() {
  return {.canonical = canonical_partition, .form = "even, or blocks for each stage: 4+2"};
}

json checked(const json& given, FieldType type, const Values& values, const std::string& name) {
  switch (type) {
    case FieldType::kText: return checked_text(given, values, name);
    case FieldType::kWhole: return checked_whole(given, values, name);
    case FieldType::kReal: return checked_real(given, values, name);
    case FieldType::kFlag: break;
  }
  if (!given.is_boolean()) mistyped(name, "true or false", given);
  return given;
}

std::string values_text(FieldType type, const Values& values) {
  if (type == FieldType::kFlag) return "`true`, `false`";
  if (type != FieldType::kText)
    return (type == FieldType::kWhole ? "whole numbers in " : "numbers in ") + range_text(values);
  if (values.canonical) return values.form;
  if (values.choices.empty()) return values.may_be_empty ? "text" : "a name";
  std::string text;
  for (const std::string& choice : values.choices)
    text.append(text.empty() ? "`" : ", `").append(choice).append("`");
  return text;
}

std::string shown(const json& value) {
  constexpr std::size_t kLongest = 80;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

}  // namespace tersor::protocol
