// SPDX-License-Identifier: Apache-2.0
#include "common/hex.hpp"

#include <string_view>

namespace tersor {
namespace {

void append(std::string& text, unsigned byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += kDigits[byte >> 4];
  text += kDigits[byte & 15];
}

}  // namespace

std::string hex(std::uint64_t value) {
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8)
    append(text, static_cast<unsigned>(value >> shift) & 0xFF);
  return text;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) append(text, std::to_integer<unsigned>(byte));
  return text;
}

}  // namespace tersor
