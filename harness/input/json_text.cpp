// SPDX-License-Identifier: Apache-2.0
#include "harness/input/json_text.hpp"

#include <algorithm>
#include <cstdint>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/json_parse.hpp"
#include "common/printable.hpp"

namespace tersor::harness {

/// Walks a text that parse_json has already accepted, and notes where keys and values begin.
class JsonScanner {
 public:
  explicit JsonScanner(JsonText& document) : document_(document), text_(document.text_) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) at_ = kByteOrderMark.size();
    value("");
  }

 private:
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  std::string string() {
    const std::size_t begin = at_++;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    auto read = nlohmann::json::parse(text_.substr(begin, at_ - begin)).get<std::string>();
    // Names and values go to the terminal, into file names and into the database.
    if (const std::string shown = printable(read); shown != read)
      document_.fail_at(document_.locate(begin),
                        "'" + shown + "' has a character that controls the terminal; leave it out");
    return read;
  }

  void value(const std::string& pointer) {
    blanks();
    document_.values_[pointer] = at_;
    if (text_[at_] == '{') {
      object(pointer);
    } else if (text_[at_] == '[') {
      array(pointer);
    } else if (text_[at_] == '"') {
      string();
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
    blanks();
  }

  void object(const std::string& pointer) {
    ++at_;
    for (blanks(); text_[at_] != '}'; blanks()) {
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      const std::size_t begin = at_;
      const std::string key = string();
      const std::string child = JsonText::child(pointer, key);
      document_.keys_.emplace(child, begin);
      blanks();
      ++at_;  // the colon
      value(child);
    }
    ++at_;
  }

  void array(const std::string& pointer) {
    ++at_;
    std::size_t index = 0;
    for (blanks(); text_[at_] != ']'; blanks()) {
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      value(JsonText::child(pointer, index++));
    }
    ++at_;
  }

  JsonText& document_;
  std::string_view text_;
  std::size_t at_ = 0;
};

JsonText::JsonText(std::string text, std::string origin)
    : text_(std::move(text)), origin_(std::move(origin)) {
  root_ = parse_json<nlohmann::ordered_json>(text_, origin_, 1, ErrorKind::kUsage);
  JsonScanner scan(*this);
}

JsonText JsonText::read(const std::filesystem::path& file) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;
  return JsonText(read_text(file, kLargest), file.string());
}

TextPosition JsonText::locate(std::size_t byte) const {
  TextPosition where;
  const std::size_t end = std::min(byte, text_.size());
  for (std::size_t i = 0; i < end; ++i) {
    ++where.column;
    if (text_[i] == '\n') where = {where.line + 1, 1};
  }
  return where;
}

TextPosition JsonText::position(const std::string& pointer) const {
  std::string at = pointer;
  for (;;) {
    if (const auto found = values_.find(at); found != values_.end()) return locate(found->second);
    const auto slash = at.rfind('/');
    if (slash == std::string::npos) return {};
    at.resize(slash);
  }
}

TextPosition JsonText::key_position(const std::string& pointer) const {
  const auto found = keys_.find(pointer);
  return found == keys_.end() ? position(pointer) : locate(found->second);
}

void JsonText::fail_at(TextPosition where, const std::string& message) const {
  throw Error(ErrorKind::kUsage,
              origin_ + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) +
                  ": " + message,
              where.column);
}

void JsonText::fail(const std::string& pointer, const std::string& message, int offset) const {
  TextPosition where = position(pointer);
  where.column += offset;
  fail_at(where, message);
}

void JsonText::fail_at_key(const std::string& pointer, const std::string& message) const {
  fail_at(key_position(pointer), message);
}

std::string JsonText::child(const std::string& pointer, std::string_view key) {
  std::string escaped = pointer + "/";
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string JsonText::child(const std::string& pointer, std::size_t index) {
  return child(pointer, std::to_string(index));
}

}  // namespace tersor::harness
