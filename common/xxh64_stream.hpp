// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

namespace tersor {

/// XXH64 of bytes that come in pieces: the same as xxh64 of all of them.
class Xxh64Stream {
 public:
  Xxh64Stream();
  void update(std::string_view bytes);
  std::uint64_t digest() const;

 private:
  struct FreeState {
    void operator()(void* state) const noexcept;
  };
  std::unique_ptr<void, FreeState> state_;
};

}  // namespace tersor
