// SPDX-License-Identifier: Apache-2.0
#include "results/query/where.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "common/error.hpp"

namespace tersor::results {
namespace {

constexpr std::array<std::string_view, 26> kStatementWords{
    "select", "union",  "except", "intersect", "from",   "with",      "values",  "order",  "group",
    "having", "limit",  "window", "over",      "filter", "returning", "pragma",  "attach", "detach",
    "insert", "update", "delete", "create",    "drop",   "alter",     "replace", "exists"};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void scan() {
    bool is_empty = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
        continue;
      }
      is_empty = false;
      take(c);
    }
    if (is_empty) fail(0, "is empty");
    if (depth_ > 0) fail(text_.size(), "lacks " + std::to_string(depth_) + " ')'");
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    std::string shown(text_);
    std::replace(shown.begin(), shown.end(), '\0', '?');
    throw Error(ErrorKind::kUsage,
                "where '" + shown + "': column " + std::to_string(at + 1) + ": " + what +
                    " (give one SQL expression over the columns, e.g. dataset = 'sst2')",
                static_cast<int>(at) + 1);
  }

  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void take(char c) {
    if (c == '\'' || c == '"' || c == '`') return take_quoted(c, c);
    if (c == '[') return take_quoted(c, ']');
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80)) return take_word();
    if (c == ';') fail(at_, "';' ends a statement");
    if ((c == '-' && next() == '-') || (c == '/' && next() == '*')) fail(at_, "a comment");
    if (c == '?' || c == ':' || c == '@' || c == '$' || c == '#')
      fail(at_, std::string("'") + c + "' is a parameter, there are none");
    if (c == '\0') fail(at_, "a NUL byte");
    if (c == '(') ++depth_;
    if (c == ')' && --depth_ < 0) fail(at_, "')' without '('");
    ++at_;
  }

  /// A quote inside is doubled.
  void take_quoted(char open, char close) {
    const std::size_t begin = at_++;
    while (true) {
      const std::size_t stop = text_.find(close, at_);
      if (stop == std::string_view::npos)
        fail(begin, std::string("the text after ") + open + " has no end");
      at_ = stop + 1;
      if (close == ']' || at_ >= text_.size() || text_[at_] != close) return;
      ++at_;
    }
  }

  void take_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || (text_[at_] & 0x80)))
      ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::find(kStatementWords.begin(), kStatementWords.end(), word) != kStatementWords.end() &&
        !(word == "replace" && is_call()))
      fail(begin, "'" + word + "' does not belong in an expression");
  }

  bool is_call() const {
    const auto stop = text_.find_first_not_of(" \t", at_);
    return stop != std::string_view::npos && text_[stop] == '(';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

void check_expression(std::string_view text) { Scanner(text).scan(); }

}  // namespace tersor::results
