// SPDX-License-Identifier: Apache-2.0
#include "common/number.hpp"

#include <charconv>
#include <cmath>
#include <vector>

namespace tersor {
namespace {

std::string_view without_plus(std::string_view text) {
  const bool is_signed = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return is_signed ? text.substr(1) : text;
}

template <class T, class Format>
std::optional<T> parse_whole(std::string_view text, Format format) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, format);
  if (result.ec != std::errc{} || result.ptr != end || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::string format_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::vector<char> text(400);  // the longest fixed decimal of a double has 343 characters
  const double printed = value == 0 ? 0.0 : value;
  const auto result =
      std::to_chars(text.data(), text.data() + text.size(), printed, std::chars_format::fixed);
  return {text.data(), result.ptr};
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_whole<std::int64_t>(without_plus(text), 10);
}

std::optional<std::int64_t> parse_whole_number(std::string_view text) {
  return text.starts_with('-') ? std::nullopt : parse_whole<std::int64_t>(text, 10);
}

std::optional<double> parse_real(std::string_view text) {
  const auto value = parse_whole<double>(without_plus(text), std::chars_format::general);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  if (text.starts_with("0x")) return parse_whole<std::uint64_t>(text.substr(2), 16);
  return parse_whole<std::uint64_t>(without_plus(text), 10);
}

}  // namespace tersor
