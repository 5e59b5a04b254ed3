// SPDX-License-Identifier: Apache-2.0
#include "common/hash.hpp"

#include <sha2.h>
#include <xxhash.h>

#include <array>

#include "common/hex.hpp"

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
  return hex(std::as_bytes(std::span(digest)));
}

}  // namespace tersor
