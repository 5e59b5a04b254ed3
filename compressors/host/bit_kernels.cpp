// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include "compressors/host/kernels.hpp"
#include "compressors/host/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/bit_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

// Eight codes in the bytes of `bytes` to 8*width bits, and back.
inline std::uint64_t gather_fields(std::uint64_t bytes, int width) {
#if HWY_TARGET <= HWY_AVX2
  return _pext_u64(bytes, 0x0101010101010101u * ((1u << width) - 1));
#else
  std::uint64_t fields = 0;
  for (int i = 0; i < 8; ++i) fields |= ((bytes >> (8 * i)) & 0xFFu) << (i * width);
  return fields;
#endif
}
inline std::uint64_t scatter_fields(std::uint64_t fields, int width) {
#if HWY_TARGET <= HWY_AVX2
  return _pdep_u64(fields, 0x0101010101010101u * ((1u << width) - 1));
#else
  const std::uint64_t mask = (1u << width) - 1;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 8; ++i) bytes |= ((fields >> (i * width)) & mask) << (8 * i);
  return bytes;
#endif
}

#if HWY_TARGET <= HWY_AVX3
// Fields of 1, 2 and 4 bits of 64 codes at once; return how many codes were done.
std::int64_t pack_powers(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, int width,
                         std::byte* HWY_RESTRICT out) {
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64, out += 8 * width) {
    const __m512i v = _mm512_loadu_si512(codes + i);
    if (width == 4) {  // pairs: a + 16 b
      const __m512i pairs = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x1001));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi16_epi8(pairs));
    } else if (width == 2) {  // a + 4 b, then pairs of those: + 16
      const __m512i pairs = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x0401));
      const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00100001));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(fours));
    } else {
      const std::uint64_t bits = _mm512_test_epi8_mask(v, _mm512_set1_epi8(1));
      std::memcpy(out, &bits, 8);
    }
  }
  return i;
}

std::int64_t unpack_powers(const std::byte* HWY_RESTRICT in, std::int64_t count, int width,
                           std::uint8_t* HWY_RESTRICT codes) {
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64, in += 8 * width) {
    __m512i v;
    if (width == 4) {
      v = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
      v = _mm512_and_si512(_mm512_or_si512(v, _mm512_slli_epi16(v, 4)), _mm512_set1_epi8(15));
    } else if (width == 2) {
      v = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
      v = _mm512_or_si512(v, _mm512_slli_epi32(v, 12));
      v = _mm512_or_si512(v, _mm512_slli_epi32(v, 6));
      v = _mm512_and_si512(v, _mm512_set1_epi8(3));
    } else {
      std::uint64_t bits;
      std::memcpy(&bits, in, 8);
      v = _mm512_maskz_set1_epi8(bits, 1);
    }
    _mm512_storeu_si512(codes + i, v);
  }
  return i;
}
#elif HWY_TARGET <= HWY_AVX2
std::int64_t pack_powers(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, int width,
                         std::byte* HWY_RESTRICT out) {
  std::int64_t i = 0;
  for (; i + 32 <= count; i += 32, out += 4 * width) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i));
    if (width == 1) {
      const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(v, 7)));
      std::memcpy(out, &bits, 4);
      continue;
    }
    const int factor = width == 4 ? 0x1001 : 0x0401;
    __m256i pairs = _mm256_maddubs_epi16(v, _mm256_set1_epi16(static_cast<short>(factor)));
    if (width == 2) pairs = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00100001));
    // The low byte of every 16-bit (32-bit) field, to the front of each half.
    const __m256i take =
        width == 4 ? _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1, 0,
                                      2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1)
                   : _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                      0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(pairs, take);
    const __m128i low = _mm256_castsi256_si128(bytes);
    const __m128i high = _mm256_extracti128_si256(bytes, 1);
    if (width == 4)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi64(low, high));
    else
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi32(low, high));
  }
  return i;
}

std::int64_t unpack_powers(const std::byte* HWY_RESTRICT in, std::int64_t count, int width,
                           std::uint8_t* HWY_RESTRICT codes) {
  std::int64_t i = 0;
  for (; i + 32 <= count; i += 32, in += 4 * width) {
    __m256i v;
    if (width == 4) {
      v = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
      v = _mm256_and_si256(_mm256_or_si256(v, _mm256_slli_epi16(v, 4)), _mm256_set1_epi8(15));
    } else if (width == 2) {
      v = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in)));
      v = _mm256_or_si256(v, _mm256_slli_epi32(v, 12));
      v = _mm256_or_si256(v, _mm256_slli_epi32(v, 6));
      v = _mm256_and_si256(v, _mm256_set1_epi8(3));
    } else {
      std::uint32_t bits;
      std::memcpy(&bits, in, 4);
      // Byte i of the vector gets byte i/8 of the bits, and looks at its bit i mod 8.
      const __m256i spread = _mm256_shuffle_epi8(
          _mm256_set1_epi32(static_cast<int>(bits)),
          _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
      const __m256i own = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
      v = _mm256_cmpeq_epi8(_mm256_and_si256(spread, own), own);
      v = _mm256_and_si256(v, _mm256_set1_epi8(1));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + i), v);
  }
  return i;
}
#endif

void pack_bits(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, int width,
               std::byte* HWY_RESTRICT out) {
  if (width == 8) {
    std::memcpy(out, codes, static_cast<std::size_t>(count));
    return;
  }
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if (std::has_single_bit(static_cast<unsigned>(width))) {
    i = pack_powers(codes, count, width, out);
    out += i / 8 * width;
  }
#endif
  // A store of 8 bytes may run past this field group, not past the end of the stream.
  for (; i + 64 <= count; i += 8, out += width) {
    std::uint64_t bytes;
    std::memcpy(&bytes, codes + i, 8);
    const std::uint64_t fields = gather_fields(bytes, width);
    std::memcpy(out, &fields, 8);
  }
  for (; i < count; i += 8, out += width) {
    const std::int64_t left = std::min<std::int64_t>(8, count - i);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, codes + i, static_cast<std::size_t>(left));
    const std::uint64_t fields = gather_fields(bytes, width);
    std::memcpy(out, &fields, static_cast<std::size_t>((left * width + 7) / 8));
  }
}

void unpack_bits(const std::byte* HWY_RESTRICT in, std::int64_t count, int width,
                 std::uint8_t* HWY_RESTRICT codes) {
  if (width == 8) {
    std::memcpy(codes, in, static_cast<std::size_t>(count));
    return;
  }
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  if (std::has_single_bit(static_cast<unsigned>(width))) {
    i = unpack_powers(in, count, width, codes);
    in += i / 8 * width;
  }
#endif
  for (; i + 64 <= count; i += 8, in += width) {
    std::uint64_t fields;
    std::memcpy(&fields, in, 8);
    const std::uint64_t bytes = scatter_fields(fields, width);
    std::memcpy(codes + i, &bytes, 8);
  }
  for (; i < count; i += 8, in += width) {
    const std::int64_t left = std::min<std::int64_t>(8, count - i);
    std::uint64_t fields = 0;
    std::memcpy(&fields, in, static_cast<std::size_t>((left * width + 7) / 8));
    const std::uint64_t bytes = scatter_fields(fields, width);
    std::memcpy(codes + i, &bytes, static_cast<std::size_t>(left));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

HWY_EXPORT(pack_bits);
HWY_EXPORT(unpack_bits);

void pack_bits(const std::uint8_t* codes, std::int64_t count, int width, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(pack_bits)(codes, count, width, out);
}
void unpack_bits(const std::byte* in, std::int64_t count, int width, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_bits)(in, count, width, codes);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
