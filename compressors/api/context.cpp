// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/context.hpp"

namespace tersor::compressors {

Stream Context::random(Purpose purpose, bool with_rank) const {
  std::uint32_t c3 = static_cast<std::uint32_t>(purpose);
  c3 |= static_cast<std::uint32_t>(direction) << 8 | static_cast<std::uint32_t>(phase) << 9;
  if (with_rank) c3 |= ((places.first + rank * places.step) & 0xFFFFu) << 16;
  const std::uint32_t c2 = site | static_cast<std::uint32_t>(call) << 16;
  return {philox_key(seed), step, c2, c3};
}

Stream Context::fixed_random(Purpose purpose) const {
  return {philox_key(seed), 0, site, static_cast<std::uint32_t>(purpose)};
}

}  // namespace tersor::compressors
