// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/grammar.hpp"

#include <algorithm>
#include <cctype>

#include "common/error.hpp"

namespace tersor::compressors {
namespace {

constexpr std::size_t kLongestText = 65536;
constexpr int kDeepest = 32;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_punctuation(char c) { return c == '(' || c == ')' || c == ',' || c == '='; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  SpecNode whole() {
    SpecNode node = spec(1);
    skip_blanks();
    if (at_ < text_.size()) fail("unexpected '" + std::string(1, text_[at_]) + "' after the spec");
    return node;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw_spec_error(message, static_cast<int>(at_) + 1, text_);
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }

  /// A word up to the next punctuation, without the blanks around it.
  SpecNode word(const std::string& what) {
    skip_blanks();
    SpecNode node;
    node.column = static_cast<int>(at_) + 1;
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_punctuation(text_[at_])) {
      if (text_[at_] == '{' || text_[at_] == '}')
        fail("'" + std::string(1, text_[at_]) + "': {a,b} stands in sweeps only");
      ++at_;
    }
    std::size_t end = at_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    node.word = std::string(text_.substr(begin, end - begin));
    if (!node.word.empty()) return node;
    at_ = begin;
    fail(what + " is missing");
  }

  SpecNode spec(int depth) {
    SpecNode node = word("a codec name");
    arguments(node, depth);
    return node;
  }

  void arguments(SpecNode& node, int depth) {
    if (!next_is('(')) return;
    if (depth > kDeepest) fail("specs nest " + std::to_string(kDeepest) + " deep at most");
    node.has_parentheses = true;
    ++at_;
    if (next_is(')')) {
      ++at_;
      return;
    }
    while (true) {
      node.arguments.push_back(argument(node.word, depth));
      if (next_is(',')) {
        ++at_;
      } else if (next_is(')')) {
        ++at_;
        return;
      } else {
        fail(at_ < text_.size() ? node.word + ": expected ',' or ')'"
                                : node.word + ": ')' is missing");
      }
    }
  }

  SpecArgument argument(const std::string& owner, int depth) {
    SpecArgument argument;
    argument.value = word(owner + ": a value");
    if (next_is('=')) {
      ++at_;
      argument.key = argument.value.word;
      argument.key_column = argument.value.column;
      argument.value = word(owner + ": the value of " + argument.key);
    }
    arguments(argument.value, depth + 1);
    return argument;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string SpecNode::text() const {
  std::string out = word;
  if (!has_parentheses) return out;
  out += '(';
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) out += ',';
    if (!arguments[i].key.empty()) out += arguments[i].key + "=";
    out += arguments[i].value.text();
  }
  return out + ")";
}

void throw_spec_error(const std::string& message, int column, std::string_view text) {
  constexpr std::size_t kShown = 120;
  std::string shown(text.substr(0, kShown));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  if (text.size() > kShown) shown += "...";
  throw Error(ErrorKind::kSpec,
              message + " (column " + std::to_string(column) + " of '" + shown + "')", column);
}

SpecNode parse_spec(std::string_view text) {
  if (text.size() > kLongestText)
    throw Error(ErrorKind::kSpec, "a spec of " + std::to_string(text.size()) +
                                      " bytes: " + std::to_string(kLongestText) + " are allowed");
  return Parser(text).whole();
}

}  // namespace tersor::compressors
