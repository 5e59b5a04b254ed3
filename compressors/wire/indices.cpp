// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/indices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 32;

}  // namespace

const std::vector<std::string>& index_coding_names() {
  static const std::vector<std::string> names{"auto", "i64", "u32", "u16", "bitmap", "ef"};
  return names;
}

IndexCoding parse_index_coding(std::string_view name) {
  const auto& names = index_coding_names();
  const auto found = std::find(names.begin(), names.end(), name);
  TERSOR_CHECK(found != names.end(), "index coding '" + std::string(name) + "'");
  return static_cast<IndexCoding>(found - names.begin());
}

std::size_t index_bytes(IndexCoding coding, std::int64_t n, std::int64_t k) {
  const auto count = static_cast<std::size_t>(k);
  switch (coding) {
    case IndexCoding::kI64: return 8 * count;
    case IndexCoding::kU32: return 4 * count;
    case IndexCoding::kU16: return 2 * count;
    case IndexCoding::kBitmap: return packed_bytes(n, 1);
    case IndexCoding::kEliasFano: {
      const int low_bits = elias_fano_low_bits(n, k);
      return packed_bytes(k, low_bits) + packed_bytes(elias_fano_high_bits(n, k, low_bits), 1);
    }
    case IndexCoding::kAuto: break;
  }
  TERSOR_CHECK(false, "index coding is not resolved");
}

IndexCoding choose_index_coding(IndexCoding coding, std::span<const ScopeSizes> sizes,
                                std::string_view codec) {
  std::int64_t longest = 0;
  for (const ScopeSizes& s : sizes) longest = std::max(longest, s.scopes > 0 ? s.n : 0);
  const auto check = [&](std::int64_t limit, const char* name) {
    const char* const remedy =
        limit == kLongest ? "; use shorter scopes or a smaller tensor" : "; use index=auto";
    if (longest > limit)
      throw Error(ErrorKind::kUnsupported, std::string(codec) + ": index=" + name +
                                               " needs scopes of at most " + std::to_string(limit) +
                                               " elements, this tensor has one of " +
                                               std::to_string(longest) + remedy);
  };
  if (coding == IndexCoding::kU16) check(65536, "u16");
  check(kLongest, index_coding_names()[static_cast<std::size_t>(coding)].c_str());
  if (coding != IndexCoding::kAuto) return coding;

  constexpr std::array kOrder{IndexCoding::kU16, IndexCoding::kU32, IndexCoding::kBitmap,
                              IndexCoding::kEliasFano};
  IndexCoding best = IndexCoding::kU32;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const IndexCoding candidate : kOrder) {
    if (candidate == IndexCoding::kU16 && longest > 65536) continue;
    std::size_t bytes = 0;
    for (const ScopeSizes& s : sizes) {
      if (s.scopes > 0)
        bytes += static_cast<std::size_t>(s.scopes) * index_bytes(candidate, s.n, s.k);
    }
    if (bytes < fewest) {
      fewest = bytes;
      best = candidate;
    }
  }
  return best;
}

std::int64_t count_of_ratio(double ratio, std::int64_t n) {
  const double wanted = std::floor(ratio * static_cast<double>(n) + 0.5);
  return std::min(n, std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted)));
}

}  // namespace tersor::compressors
