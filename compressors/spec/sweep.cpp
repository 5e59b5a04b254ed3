// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/sweep.hpp"

#include <algorithm>
#include <limits>

#include "compressors/spec/grammar.hpp"

namespace tersor::compressors {
namespace {

constexpr int kDeepest = 32;
constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

[[noreturn]] void fail_sweep(const std::string& message, std::size_t at, std::string_view text) {
  throw_spec_error(message, static_cast<int>(at) + 1, text);
}

/// Position of the brace that closes the one at `open`.
std::size_t closing_brace(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{' && ++depth > kDeepest) fail_sweep("braces nest too deep", i, text);
    if (text[i] == '}' && --depth == 0) return i;
  }
  fail_sweep("'{' is never closed", open, text);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The alternatives between two braces: split at commas outside parentheses and inner braces.
std::vector<std::string_view> alternatives(std::string_view inside) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= inside.size(); ++i) {
    const char c = i < inside.size() ? inside[i] : ',';
    if (c == '(' || c == '{') ++depth;
    if (c == ')' || c == '}') --depth;
    if (i < inside.size() && (c != ',' || depth != 0)) continue;
    parts.push_back(trimmed(inside.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

void append_product(std::vector<std::string>& results, const std::vector<std::string>& further,
                    std::size_t limit, std::string_view text) {
  if (further.size() > limit / std::max<std::size_t>(1, results.size()))
    fail_sweep("the sweep gives more than " + std::to_string(limit) + " specs", 0, text);
  std::vector<std::string> product;
  product.reserve(results.size() * further.size());
  for (const std::string& left : results)
    for (const std::string& right : further) product.push_back(left + right);
  results = std::move(product);
}

/// Counts the sequence that begins at `at` and ends before an unmatched '}' or, inside braces, a
/// ',' outside parentheses.
std::uint64_t count_sequence(std::string_view text, std::size_t& at, int nesting) {
  std::uint64_t product = 1;
  if (nesting > kDeepest) at = text.size();  // expand_sweep refuses it
  const bool is_inside = nesting > 0;
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '{') {
      std::uint64_t sum = 0;
      do {
        ++at;
        sum = saturating_sum(sum, count_sequence(text, at, nesting + 1));
      } while (at < text.size() && text[at] == ',');
      product = saturating_product(product, sum);
    } else if (c == '}' || (c == ',' && is_inside && depth == 0)) {
      if (is_inside) return product;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    }
    ++at;
  }
  return product;
}

}  // namespace

std::vector<std::string> expand_sweep(std::string_view text, std::size_t limit) {
  std::vector<std::string> results{""};
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    const std::size_t stray = text.find('}', at);
    if (stray < open) fail_sweep("'}' without '{'", stray, text);
    append_product(results, {std::string(text.substr(at, open - at))}, limit, text);
    if (open == text.size()) break;
    const std::size_t close = closing_brace(text, open);
    std::vector<std::string> choices;
    for (const std::string_view part : alternatives(text.substr(open + 1, close - open - 1))) {
      if (part.empty()) fail_sweep("an alternative is empty", open, text);
      for (std::string& choice : expand_sweep(part, limit)) choices.push_back(std::move(choice));
      if (choices.size() > limit)
        fail_sweep("the sweep gives more than " + std::to_string(limit) + " specs", open, text);
    }
    append_product(results, choices, limit, text);
    at = close + 1;
  }
  return results;
}

std::uint64_t count_sweep(std::string_view text) {
  std::size_t at = 0;
  return count_sequence(text, at, 0);
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > kSaturated / a ? kSaturated : a * b;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > kSaturated - b ? kSaturated : a + b;
}

}  // namespace tersor::compressors
