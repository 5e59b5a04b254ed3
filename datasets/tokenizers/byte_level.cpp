// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokenizers/byte_level.hpp"

#include <utf8proc.h>

#include <array>
#include <cstdint>

namespace tersor::datasets {
namespace {

enum class Class : std::uint8_t { kLetter, kNumber, kSpace, kOther };

/// Unicode's property White_Space.
bool is_white_space(utf8proc_int32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

Class class_of(utf8proc_int32_t code) {
  if (is_white_space(code)) return Class::kSpace;
  const utf8proc_category_t kind = utf8proc_category(code);
  if (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO) return Class::kLetter;
  if (kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO) return Class::kNumber;
  return Class::kOther;
}

struct Character {
  Class kind = Class::kOther;
  std::size_t length = 1;  ///< bytes
};

std::array<Class, 128> ascii_classes() {
  std::array<Class, 128> classes{};
  for (std::size_t i = 0; i < classes.size(); ++i)
    classes[i] = class_of(static_cast<utf8proc_int32_t>(i));
  return classes;
}

Character character_at(std::string_view text, std::size_t at) {
  static const std::array<Class, 128> kAscii = ascii_classes();
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 128) return {kAscii[first], 1};
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t used =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                       static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  return {class_of(code), used > 0 ? static_cast<std::size_t>(used) : 1};
}

std::size_t run_end(std::string_view text, std::size_t at, Class kind) {
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (next.kind != kind) break;
    at += next.length;
  }
  return at;
}

/// \s+(?!\S)|\s+ : a run before text leaves its last character to the piece after it.
std::size_t space_end(std::string_view text, std::size_t begin) {
  std::size_t last = begin;
  std::size_t at = begin;
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (next.kind != Class::kSpace) return last == begin ? at : last;
    last = at;
    at += next.length;
  }
  return at;
}

std::size_t contraction_length(std::string_view text) {
  constexpr std::array<std::string_view, 7> kEndings = {"'s", "'t",  "'re", "'ve",
                                                        "'m", "'ll", "'d"};
  for (const std::string_view ending : kEndings)
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/// The byte of each code point below 0x144; -1: none.
std::array<int, 0x144> bytes_of_codes() {
  std::array<int, 0x144> bytes{};
  bytes.fill(-1);
  std::size_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    bytes[stands_for_itself(byte) ? byte : next++] = static_cast<int>(byte);
  return bytes;
}

}  // namespace

std::size_t piece_end(std::string_view text, std::size_t begin) {
  if (text[begin] == '\'')
    if (const std::size_t length = contraction_length(text.substr(begin)); length > 0)
      return begin + length;
  const Character first = character_at(text, begin);
  if (first.kind != Class::kSpace) return run_end(text, begin + first.length, first.kind);
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    const Character second = character_at(text, begin + 1);
    if (second.kind != Class::kSpace) return run_end(text, begin + 1 + second.length, second.kind);
  }
  return space_end(text, begin);
}

std::optional<std::string> token_bytes(std::string_view written) {
  static const auto kBytes = bytes_of_codes();
  std::string bytes;
  for (std::size_t at = 0; at < written.size();) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t used =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(written.data()) + at,
                         static_cast<utf8proc_ssize_t>(written.size() - at), &code);
    if (used <= 0 || static_cast<std::size_t>(code) >= kBytes.size()) return std::nullopt;
    const int byte = kBytes[static_cast<std::size_t>(code)];
    if (byte < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    at += static_cast<std::size_t>(used);
  }
  return bytes;
}

}  // namespace tersor::datasets
