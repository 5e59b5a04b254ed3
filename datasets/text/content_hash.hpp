// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "common/xxh64_stream.hpp"

namespace tersor::datasets {

/// XXH64 over texts and numbers, these little-endian on every machine, so that a hash means the
/// same everywhere.
class ContentHash {
 public:
  void add(std::string_view bytes) { stream_.update(bytes); }
  template <typename Unsigned>
  void add_number(Unsigned value) {
    char bytes[sizeof(Unsigned)];
    for (std::size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    stream_.update({bytes, sizeof bytes});
  }
  /// Its length (u64), then its bytes.
  void add_text(std::string_view text) {
    add_number(std::uint64_t{text.size()});
    add(text);
  }
  std::uint64_t digest() const { return stream_.digest(); }

 private:
  Xxh64Stream stream_;
};

}  // namespace tersor::datasets
