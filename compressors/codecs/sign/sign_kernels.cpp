// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/sign/sign_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/sign/sign_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

void gather_signs(const float* HWY_RESTRICT x, std::int64_t count, std::byte* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  for (; i + 64 <= count; i += 64, out += 8) {
    std::uint64_t bits = 0;
    for (int part = 0; part < 4; ++part) {
      const __m512 v = _mm512_loadu_ps(x + i + 16 * part);
      const auto negative =
          static_cast<std::uint64_t>(_mm512_movepi32_mask(_mm512_castps_si512(v)));
      const auto number = static_cast<std::uint64_t>(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q));
      bits |= (negative & number) << (16 * part);
    }
    std::memcpy(out, &bits, 8);
  }
#endif
#if HWY_TARGET <= HWY_AVX2
  // A NaN compared with itself is unordered: its sign is masked away.
  for (; i + 8 <= count; i += 8) {
    const __m256 v = _mm256_loadu_ps(x + i);
    const __m256 number = _mm256_cmp_ps(v, v, _CMP_ORD_Q);
    *out++ = static_cast<std::byte>(_mm256_movemask_ps(_mm256_and_ps(v, number)));
  }
#endif
  for (; i < count; i += 8) {
    const std::int64_t left = std::min<std::int64_t>(8, count - i);
    unsigned byte = 0;
    for (std::int64_t j = 0; j < left; ++j) byte |= (bits_of(nan_to_zero(x[i + j])) >> 31) << j;
    *out++ = static_cast<std::byte>(byte);
  }
}

template <bool kPerElement, bool kAdd>
void apply_loop(const std::byte* HWY_RESTRICT bits, std::int64_t first_bit, std::int64_t count,
                const float* HWY_RESTRICT scale, float* HWY_RESTRICT out) {
  const float shared = scale[0];
  const auto one = [&](std::int64_t i) {
    const std::int64_t at = first_bit + i;
    const std::uint32_t negative = (std::to_integer<std::uint32_t>(bits[at / 8]) >> (at % 8)) & 1u;
    const float value = float_of(bits_of(kPerElement ? scale[i] : shared) ^ negative << 31);
    out[i] = kAdd ? out[i] + value : value;
  };
  std::int64_t i = 0;
  for (; i < count && (first_bit + i) % 8 != 0; ++i) one(i);
#if HWY_TARGET <= HWY_AVX3
  const __m512i flip = _mm512_set1_epi32(INT32_MIN);
  for (; i + 16 <= count; i += 16) {
    std::uint16_t two;
    std::memcpy(&two, bits + (first_bit + i) / 8, 2);
    const __m512i s =
        _mm512_castps_si512(kPerElement ? _mm512_loadu_ps(scale + i) : _mm512_set1_ps(shared));
    const __m512 value = _mm512_castsi512_ps(_mm512_mask_xor_epi32(s, two, s, flip));
    _mm512_storeu_ps(out + i, kAdd ? _mm512_add_ps(_mm512_loadu_ps(out + i), value) : value);
  }
#elif HWY_TARGET <= HWY_AVX2
  // Bit j of the byte goes to the sign of lane j.
  const __m256i shifts = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
  const __m256i sign_bit = _mm256_set1_epi32(INT32_MIN);
  for (; i + 8 <= count; i += 8) {
    const __m256i byte = _mm256_set1_epi32(std::to_integer<int>(bits[(first_bit + i) / 8]));
    const __m256i flip = _mm256_and_si256(_mm256_sllv_epi32(byte, shifts), sign_bit);
    const __m256 s = kPerElement ? _mm256_loadu_ps(scale + i) : _mm256_set1_ps(shared);
    const __m256 value = _mm256_xor_ps(s, _mm256_castsi256_ps(flip));
    _mm256_storeu_ps(out + i, kAdd ? _mm256_add_ps(_mm256_loadu_ps(out + i), value) : value);
  }
#endif
  for (; i + 8 <= count; i += 8) {
    const auto byte = std::to_integer<std::uint32_t>(bits[(first_bit + i) / 8]);
    for (int j = 0; j < 8; ++j) {
      const std::uint32_t flip = (byte << (31 - j)) & 0x80000000u;
      const float value = float_of(bits_of(kPerElement ? scale[i + j] : shared) ^ flip);
      out[i + j] = kAdd ? out[i + j] + value : value;
    }
  }
  for (; i < count; ++i) one(i);
}

void apply_signs(const std::byte* bits, std::int64_t first_bit, std::int64_t count,
                 const float* scale, bool is_per_element, bool is_accumulated, float* out) {
  if (is_per_element && is_accumulated)
    apply_loop<true, true>(bits, first_bit, count, scale, out);
  else if (is_per_element)
    apply_loop<true, false>(bits, first_bit, count, scale, out);
  else if (is_accumulated)
    apply_loop<false, true>(bits, first_bit, count, scale, out);
  else
    apply_loop<false, false>(bits, first_bit, count, scale, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(gather_signs);
HWY_EXPORT(apply_signs);
void gather_signs(const float* x, std::int64_t count, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(gather_signs)(x, count, out);
}
void apply_signs(const std::byte* bits, std::int64_t first_bit, std::int64_t count,
                 const float* scale, bool is_per_element, bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(apply_signs)
  (bits, first_bit, count, scale, is_per_element, is_accumulated, out);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
