// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tersor::harness {

/// Place in a text, both from 1; columns count bytes.
struct TextPosition {
  int line = 1;
  int column = 1;
};

/// A JSON document that a person wrote: remembers where each value stands, so that a value that
/// turns out wrong can be pointed at, and refuses what nlohmann/json passes over (a key given
/// twice).
class JsonText {
 public:
  /// Throws Error(kUsage) "origin:line:column: ..." on anything that is not one JSON value, on a
  /// repeated key, and on nesting deeper than 64.
  JsonText(std::string text, std::string origin);
  /// Throws as InputFile (common/files.hpp), and Error(kData) beyond 64 MiB.
  static JsonText read(const std::filesystem::path& file);

  const nlohmann::ordered_json& root() const { return root_; }
  const std::string& text() const { return text_; }
  const std::string& origin() const { return origin_; }

  /// Place of the value at an RFC 6901 pointer (""= the whole); of its nearest known parent where
  /// there is none.
  TextPosition position(const std::string& pointer) const;
  /// Place of the key of the member at `pointer`.
  TextPosition key_position(const std::string& pointer) const;

  /// Throws Error(kUsage): "origin:line:column: message". `offset`: bytes to the right of the
  /// value's first byte (inside a string: 1 is its first character).
  [[noreturn]] void fail(const std::string& pointer, const std::string& message,
                         int offset = 0) const;
  [[noreturn]] void fail_at_key(const std::string& pointer, const std::string& message) const;

  /// pointer + "/" + key, escaped.
  static std::string child(const std::string& pointer, std::string_view key);
  static std::string child(const std::string& pointer, std::size_t index);

 private:
  friend class JsonScanner;
  TextPosition locate(std::size_t byte) const;
  [[noreturn]] void fail_at(TextPosition where, const std::string& message) const;

  std::string text_;
  std::string origin_;
  nlohmann::ordered_json root_;
  std::map<std::string, std::size_t> values_;
  std::map<std::string, std::size_t> keys_;
};

}  // namespace tersor::harness
