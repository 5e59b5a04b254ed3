// SPDX-License-Identifier: Apache-2.0
#include "common/hash.hpp"

#include <sha2.h>
#include <xxhash.h>

#include <array>

namespace tersor {

std::uint64_t xxh64(std::span<const std::byte> data, std::uint64_t seed) {
  return XXH64(data.data(), data.size(), seed);
}

std::uint64_t xxh64(std::string_view text, std::uint64_t seed) {
  return XXH64(text.data(), text.size(), seed);
}

std::string sha256_hex(std::span<const std::byte> data) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(data.data()), data.size());
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &context);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace tersor
