// SPDX-License-Identifier: Apache-2.0
#include "common/json_parse.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

namespace tersor {
namespace {

struct Fault {
  std::size_t offset = 0;
  std::string what;
};

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
}

/// The end of the string whose quote is at `begin`: after its closing quote, or of the text.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

std::size_t end_of_word(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  while (at < text.size() && is_of_word(text[at])) ++at;
  return at;
}

/// The first place beyond the limits, before parsing, since each level of nesting costs memory; or
/// a zero byte, which the library takes for the end of the text, and what follows for nothing.
/// `members`: those of all objects, a key that is repeated included.
std::optional<Fault> find_excess(std::string_view text, std::size_t most_members,
                                 std::size_t& members) {
  std::vector<std::size_t> colons;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '\0') return Fault{at, "not JSON: a zero byte"};
    if (c == '[' || c == '{') {
      if (colons.size() == kDeepestJson)
        return Fault{at, "nested deeper than " + std::to_string(kDeepestJson) + " levels"};
      colons.push_back(0);
    } else if (c == ']' || c == '}') {
      if (!colons.empty()) colons.pop_back();
    } else if (c == ':' && !colons.empty()) {
      ++members;
      if (++colons.back() > most_members)
        return Fault{at, "an object of more than " + std::to_string(most_members) + " members"};
    }
    ++at;
  }
  return std::nullopt;
}

template <typename Json>
std::size_t count_members(const Json& value) {
  std::size_t count = value.is_object() ? value.size() : 0;
  if (value.is_structured())
    for (const Json& part : value) count += count_members(part);
  return count;
}

/// The second of two keys of one object that are the same, of a text that is JSON.
Fault repeated_key(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string_view word;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      begin = at;
      at = end_of_string(text, at);
      word = text.substr(begin, at - begin);
      continue;
    }
    if (c == '[' || c == '{') keys.emplace_back();
    if (c == ']' || c == '}') keys.pop_back();
    if (c == ':' && !keys.back().insert(nlohmann::json::parse(word).get<std::string>()).second)
      return {begin, "the key " + std::string(word) + " is given twice"};
    ++at;
  }
  return {0, "a key is given twice"};
}

/// The first word outside strings of which `is_wanted`.
template <typename Wanted>
std::optional<std::size_t> find_word(std::string_view text, Wanted is_wanted) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = end_of_string(text, at);
    } else if (const std::size_t end = end_of_word(text, at); end > at) {
      if (is_wanted(text.substr(at, end - at))) return at;
      at = end;
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

bool is_too_large(std::string_view word) {
  const std::string number(word);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  return *end == '\0' && std::isinf(value) && number.find_first_of("iI") == std::string::npos;
}

bool is_no_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  constexpr std::array<std::string_view, 6> kWords{"NaN", "nan", "NAN", "Infinity", "inf", "Inf"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

Fault number_fault(std::string_view text) {
  const std::size_t at = find_word(text, is_too_large).value_or(0);
  constexpr std::size_t kLongest = 40;
  const std::size_t length = std::min(end_of_word(text, at) - at, kLongest);
  return {at, "the number " + std::string(text.substr(at, length)) +
                  " is out of range: binary64 ends at 1.8e308"};
}

Fault syntax_fault(std::string_view text, const nlohmann::json::parse_error& error) {
  const std::size_t byte = error.byte == 0 ? 0 : error.byte - 1;
  if (const auto at = find_word(text, is_no_number); at && *at <= byte)
    return {*at, "not JSON: it has no " +
                     std::string(text.substr(*at, end_of_word(text, *at) - *at)) +
                     " (write null, or leave the value out)"};
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while .."
  std::string_view what = error.what();
  if (const auto colon = what.find(": "); colon != std::string_view::npos)
    what.remove_prefix(colon + 2);
  return {std::min(byte, text.size()), "not JSON: " + std::string(what)};
}

}  // namespace

TextPlace place_in(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line_end = before.rfind('\n');
  const std::size_t begin = line_end == std::string_view::npos ? 0 : line_end + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(before.size() - begin) + 1};
}

template <typename Json>
Json parse_json(std::string_view text, const std::string& origin, int first_line, ErrorKind kind,
                std::size_t most_members) {
  std::size_t members = 0;
  std::optional<Fault> fault = find_excess(text, most_members, members);
  if (!fault) {
    try {
      Json value = Json::parse(text);
      if (count_members(value) == members) return value;
      fault = repeated_key(text);  // the library would keep the last
    } catch (const nlohmann::json::parse_error& error) {
      fault = syntax_fault(text, error);
    } catch (const nlohmann::json::exception&) {  // out_of_range.406 alone: a number's range
      fault = number_fault(text);
    }
  }
  const TextPlace place = place_in(text, fault->offset);
  throw Error(kind,
              origin + ":" + std::to_string(first_line + place.line - 1) + ":" +
                  std::to_string(place.column) + ": " + fault->what,
              place.column);
}

template nlohmann::json parse_json(std::string_view, const std::string&, int, ErrorKind,
                                   std::size_t);
template nlohmann::ordered_json parse_json(std::string_view, const std::string&, int, ErrorKind,
                                           std::size_t);

}  // namespace tersor
