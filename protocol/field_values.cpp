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

namespace tersor::protocol {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

[[noreturn]] void mistyped(const std::string& name, const std::string& expected,
                           const json& given) {
  fail(name + " must be " + expected + ", got " + shown(given));
}

std::string canonical_layers(const std::string& text) {
  const std::string expected = "layers '" + text + "' is not all, none, last:N, first:N or A-B";
  if (text == "all" || text == "none") return text;
  if (const auto colon = text.find(':'); colon != std::string::npos) {
    const std::string side = text.substr(0, colon);
    const auto count = parse_whole_number(std::string_view(text).substr(colon + 1));
    if ((side != "last" && side != "first") || !count) fail(expected);
    if (*count < 1 || *count > 10000)
      fail("layers '" + text + "': " + std::to_string(*count) + " not in [1, 10000]");
    return side + ":" + std::to_string(*count);
  }
  const auto dash = text.find('-');
  if (dash == std::string::npos) fail(expected);
  const auto from_layer = parse_whole_number(std::string_view(text).substr(0, dash));
  const auto to_layer = parse_whole_number(std::string_view(text).substr(dash + 1));
  if (!from_layer || !to_layer) fail(expected);
  if (*from_layer > *to_layer || *to_layer > 10000)
    fail("layers '" + text + "': needs A <= B <= 10000 (zero-based, inclusive)");
  return std::to_string(*from_layer) + "-" + std::to_string(*to_layer);
}

std::string canonical_warmup(const std::string& text) {
  const auto blank = text.find(' ');
  const auto count = parse_whole_number(std::string_view(text).substr(0, blank));
  const std::string unit = blank == std::string::npos ? "steps" : text.substr(blank + 1);
  const bool is_epochs = unit == "epochs" || unit == "epoch";
  if (!count || (!is_epochs && unit != "steps" && unit != "step"))
    fail("warmup '" + text + "' is not \"N\" (steps) or \"N epochs\"");
  return std::to_string(*count) + (is_epochs && *count > 0 ? " epochs" : "");
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
