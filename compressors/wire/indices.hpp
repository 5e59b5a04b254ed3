// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::compressors {

/// How ascending positions inside a scope are written (METHODS section 2, `topk`).
enum class IndexCoding : std::uint8_t { kAuto, kI64, kU32, kU16, kBitmap, kEliasFano };

/// "auto", "i64", "u32", "u16", "bitmap", "ef": the choices of the `index` parameter, in this
/// order.
const std::vector<std::string>& index_coding_names();
IndexCoding parse_index_coding(std::string_view name);

/// Scopes of one size: `scopes` of them with n elements each, of which k are sent.
struct ScopeSizes {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t scopes = 0;
};

/// Low bits of an index of Elias-Fano: the largest l with k 2^l <= n.
inline int elias_fano_low_bits(std::int64_t n, std::int64_t k) {
  return std::bit_width(static_cast<std::uint64_t>(n / k)) - 1;
}
inline std::int64_t elias_fano_high_bits(std::int64_t n, std::int64_t k, int low_bits) {
  return k + ((n - 1) >> low_bits);
}

/// Bytes of the k indices of one scope of n elements (coding is not kAuto; 1 <= k <= n).
std::size_t index_bytes(IndexCoding coding, std::int64_t n, std::int64_t k);
/// kAuto becomes the coding with the fewest bytes over all scopes (ties: u16, u32, bitmap, ef).
/// Throws Error(kUnsupported) where a scope is too long for the coding, or longer than 2^32.
IndexCoding choose_index_coding(IndexCoding coding, std::span<const ScopeSizes> sizes,
                                std::string_view codec);

/// k = min(n, max(1, floor(ratio*n + 0.5))) in binary64, 0 for n = 0 (METHODS section 1).
std::int64_t count_of_ratio(double ratio, std::int64_t n);

}  // namespace tersor::compressors
