// SPDX-License-Identifier: Apache-2.0
#include "common/printable.hpp"

#include <cstddef>
#include <cstdint>

namespace tersor {
namespace {

struct Lead {
  std::size_t bytes;
  std::uint32_t bits;      ///< of the code point, in the first byte
  std::uint32_t smallest;  ///< code point that needs so many bytes
};

Lead lead_of(unsigned char first) {
  if (first < 0x80) return {1, first, 0};
  if (first >> 5 == 0b110) return {2, first & 0x1Fu, 0x80};
  if (first >> 4 == 0b1110) return {3, first & 0x0Fu, 0x800};
  if (first >> 3 == 0b11110) return {4, first & 0x07u, 0x10000};
  return {0, 0, 0};
}

bool is_shown(std::uint32_t point) {
  if (point == '\n' || point == '\t') return true;
  const bool is_mark = point == 0x200E || point == 0x200F || point == 0x061C;
  const bool is_override = point >= 0x202A && point <= 0x202E;
  const bool is_isolate = point >= 0x2066 && point <= 0x2069;
  if (is_mark || is_override || is_isolate) return false;
  return point >= 0x20 && (point < 0x7F || point > 0x9F);
}

/// Bytes of the character that `text` begins with; 0 where it is to be escaped.
std::size_t shown_bytes(std::string_view text) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  if (lead.bytes == 0 || lead.bytes > text.size()) return 0;
  std::uint32_t point = lead.bits;
  for (std::size_t i = 1; i < lead.bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if (next >> 6 != 0b10) return 0;
    point = point << 6 | (next & 0x3Fu);
  }
  const bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
  const bool is_character = point >= lead.smallest && point <= 0x10FFFF && !is_surrogate;
  return is_character && is_shown(point) ? lead.bytes : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    std::size_t bytes = shown_bytes(text);
    if (bytes == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      bytes = 1;
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace tersor
