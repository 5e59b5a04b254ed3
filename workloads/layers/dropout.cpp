// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/dropout.hpp"

#include "common/error.hpp"

namespace tersor::workloads {

void dropout_factors(double rate, const Stream& stream, const Cut& cut, std::span<float> out) {
  TERSOR_CHECK(static_cast<std::int64_t>(out.size()) == cut.outer * cut.part,
               "size of the factors");
  TERSOR_CHECK(rate >= 0 && rate < 1, "a dropout rate is in [0, 1)");
  const auto threshold = static_cast<std::uint64_t>(rate * 0x1p32);
  const auto kept = static_cast<float>(1.0 / (1.0 - rate));
  std::size_t at = 0;
  std::array<std::uint32_t, 4> draws{};
  std::uint64_t block = UINT64_MAX;
  for (std::int64_t o = 0; o < cut.outer; ++o) {
    for (std::int64_t i = 0; i < cut.part; ++i) {
      const auto element = static_cast<std::uint64_t>(o * cut.whole + cut.begin + i);
      if (element / 4 != block) {
        block = element / 4;
        draws = stream.block(static_cast<std::uint32_t>(block));
      }
      out[at++] = draws[element % 4] < threshold ? 0.0f : kept;
    }
  }
}

}  // namespace tersor::workloads
