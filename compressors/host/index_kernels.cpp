// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/index_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compressors/host/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/index_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

void put_high_bits(const std::uint32_t* index, std::int64_t k, int low_bits, std::int64_t bytes,
                   std::byte* out) {
  std::uint64_t word = 0;
  std::int64_t at = 0;  // bytes before `word`
  for (std::int64_t j = 0; j < k; ++j) {
    const std::int64_t bit = (std::int64_t{index[j]} >> low_bits) + j;
    if (bit / 64 * 8 > at) {
      std::memcpy(out + at, &word, sizeof word);
      word = 0;
      for (at += 8; at < bit / 64 * 8; at += 8) std::memset(out + at, 0, 8);
    }
    word |= std::uint64_t{1} << (bit % 64);
  }
  // The last word may be cut off.
  std::memcpy(out + at, &word, static_cast<std::size_t>(std::min<std::int64_t>(8, bytes - at)));
  if (bytes > at + 8) std::memset(out + at + 8, 0, static_cast<std::size_t>(bytes - at - 8));
}

std::int64_t count_high_zeros(const std::byte* in, std::int64_t bits, std::int64_t most,
                              std::uint32_t* out) {
  std::int64_t found = 0;
  for (std::int64_t begin = 0; begin < bits; begin += 64) {
    const std::int64_t left = std::min<std::int64_t>(64, bits - begin);
    std::uint64_t word = 0;
    if (left == 64) {
      std::memcpy(&word, in + begin / 8, sizeof word);
    } else {
      std::memcpy(&word, in + begin / 8, static_cast<std::size_t>((left + 7) / 8));
      word &= (std::uint64_t{1} << left) - 1;
    }
    const std::int64_t set = std::popcount(word);
    if (found + set > most) return found + set;
#if HWY_TARGET <= HWY_AVX3
    // Of 16 bits the places of the set ones are moved together; the i-th has i set ones before it.
    // Whole registers are stored while there is room for them.
    if (found + 64 + 16 <= most) {
      const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      std::int64_t first = begin;
      for (int part = 0; part < 4; ++part, first += 16, word >>= 16) {
        const auto mask = static_cast<__mmask16>(word);
        const __m512i places = _mm512_sub_epi32(_mm512_maskz_compress_epi32(mask, lanes), lanes);
        const __m512i zeros =
            _mm512_add_epi32(places, _mm512_set1_epi32(static_cast<int>(first - found)));
        _mm512_storeu_si512(out + found, zeros);
        found += std::popcount(word & 0xFFFF);
      }
      continue;
    }
#endif
    std::int64_t zeros = begin - found;
    std::uint32_t* to = out + found;
    for (; word != 0; word &= word - 1, --zeros)
      *to++ = static_cast<std::uint32_t>(zeros + std::countr_zero(word));
    found += set;
  }
  return found;
}

bool join_fields(const std::uint8_t* HWY_RESTRICT low, std::int64_t count, int low_bits,
                 std::int64_t before, std::uint32_t* HWY_RESTRICT index) {
  for (std::int64_t j = 0; j < count; ++j) index[j] = index[j] << low_bits | low[j];
  if (count == 0) return true;
  std::uint32_t descents = std::int64_t{index[0]} > before ? 0 : 1;
  for (std::int64_t j = 1; j < count; ++j) descents |= index[j] > index[j - 1] ? 0u : 1u;
  return descents == 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(put_high_bits);
HWY_EXPORT(count_high_zeros);
HWY_EXPORT(join_fields);
void put_high_bits(const std::uint32_t* index, std::int64_t k, int low_bits, std::int64_t bytes,
                   std::byte* out) {
  HWY_DYNAMIC_DISPATCH(put_high_bits)(index, k, low_bits, bytes, out);
}
std::int64_t count_high_zeros(const std::byte* in, std::int64_t bits, std::int64_t most,
                              std::uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(count_high_zeros)(in, bits, most, out);
}
bool join_fields(const std::uint8_t* low, std::int64_t count, int low_bits, std::int64_t before,
                 std::uint32_t* index) {
  return HWY_DYNAMIC_DISPATCH(join_fields)(low, count, low_bits, before, index);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
