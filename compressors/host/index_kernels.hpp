// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

/// Loops of Elias-Fano codes (METHODS section 2, `topk`), compiled for scalar, AVX2 and AVX-512.
namespace tersor::compressors::kernels {

/// Writes `bytes` bytes, which have room for the last bit: bit (index[j] >> low_bits) + j is set
/// for j < k, no other.
void put_high_bits(const std::uint32_t* index, std::int64_t k, int low_bits, std::int64_t bytes,
                   std::byte* out);
/// out[j] = the number of zeros before the j-th set bit of the first `bits` bits. Returns how many
/// bits are set, or any number above `most` where there are more; out has room for `most`.
std::int64_t count_high_zeros(const std::byte* in, std::int64_t bits, std::int64_t most,
                              std::uint32_t* out);
/// index[j] = index[j] << low_bits | low[j]; whether they ascend, from above `before` on.
bool join_fields(const std::uint8_t* low, std::int64_t count, int low_bits, std::int64_t before,
                 std::uint32_t* index);

}  // namespace tersor::compressors::kernels
