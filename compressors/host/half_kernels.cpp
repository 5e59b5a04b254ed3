// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/kernels.hpp"
#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/half_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void widen_float16(const std::uint16_t* HWY_RESTRICT in, std::int64_t count,
                   float* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
#endif
  for (; i < count; ++i) out[i] = float16_to_float32(in[i]);
}

void widen_bfloat16(const std::uint16_t* HWY_RESTRICT in, std::int64_t count,
                    float* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = bfloat16_to_float32(in[i]);
}

void round_float16(const float* HWY_RESTRICT in, std::int64_t count,
                   std::uint16_t* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  // The instruction rounds finite values to infinity and keeps the payload of a NaN: both are
  // mended, in a vector that has one.
  const __m256 largest = _mm256_set1_ps(kFloat16Max);
  const __m256 magnitude_mask = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_loadu_ps(in + i);
    // True for a NaN too.
    const __m256 is_odd = _mm256_cmp_ps(_mm256_and_ps(x, magnitude_mask), largest, _CMP_NLE_UQ);
    if (_mm256_movemask_ps(is_odd) != 0) {
      for (int j = 0; j < 8; ++j) out[i + j] = round_to_float16(in[i + j]);
      continue;
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
#endif
  for (; i < count; ++i) out[i] = round_to_float16(in[i]);
}

void round_bfloat16(const float* HWY_RESTRICT in, std::int64_t count,
                    std::uint16_t* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> half;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(in) + i);
    const auto magnitude = hn::And(x, hn::Set(d, 0x7FFFFFFFu));
    // What rounds to infinity and a NaN, and infinity with them: rare.
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(magnitude, hn::Set(d, 0x7F7F8000u))))) {
      for (std::int64_t j = 0; j < lanes; ++j) out[i + j] = round_to_bfloat16(in[i + j]);
      continue;
    }
    const auto odd = hn::And(hn::ShiftRight<16>(x), hn::Set(d, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(x, hn::Set(d, 0x7FFFu)), odd));
    hn::StoreU(hn::TruncateTo(half, rounded), half, out + i);
  }
#endif
  for (; i < count; ++i) out[i] = round_to_bfloat16(in[i]);
}

void add_float16(const std::uint16_t* HWY_RESTRICT in, std::int64_t count,
                 float* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    _mm256_storeu_ps(out + i, _mm256_add_ps(_mm256_loadu_ps(out + i), x));
  }
#endif
  for (; i < count; ++i) out[i] += float16_to_float32(in[i]);
}

void add_bfloat16(const std::uint16_t* HWY_RESTRICT in, std::int64_t count,
                  float* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] += bfloat16_to_float32(in[i]);
}

void canonical16(const std::uint16_t* HWY_RESTRICT in, std::int64_t count, std::uint16_t infinity,
                 std::uint16_t nan, std::uint16_t* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = (in[i] & 0x7FFFu) > infinity ? nan : in[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

HWY_EXPORT(widen_float16);
HWY_EXPORT(widen_bfloat16);
HWY_EXPORT(round_float16);
HWY_EXPORT(round_bfloat16);
HWY_EXPORT(add_float16);
HWY_EXPORT(add_bfloat16);
HWY_EXPORT(canonical16);

void widen_float16(const std::uint16_t* in, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_float16)(in, count, out);
}
void widen_bfloat16(const std::uint16_t* in, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_bfloat16)(in, count, out);
}
void round_float16(const float* in, std::int64_t count, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(round_float16)(in, count, out);
}
void round_bfloat16(const float* in, std::int64_t count, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(round_bfloat16)(in, count, out);
}
void add_float16(const std::uint16_t* in, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(add_float16)(in, count, out);
}
void add_bfloat16(const std::uint16_t* in, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(add_bfloat16)(in, count, out);
}
void canonical_float16(const std::uint16_t* in, std::int64_t count, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(canonical16)(in, count, 0x7C00, kNan16, out);
}
void canonical_bfloat16(const std::uint16_t* in, std::int64_t count, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(canonical16)(in, count, 0x7F80, kNanBf16, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
