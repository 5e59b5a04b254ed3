// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "compressors/verify/fuzz/target.hpp"

// The name is libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tersor::fuzz::run_target({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
