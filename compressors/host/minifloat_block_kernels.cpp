// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/minifloat_kernels.hpp"
#include "compressors/host/simd.hpp"
#include "compressors/wire/minifloat.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/minifloat_block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/host/lanes.inc"
#include "compressors/host/minifloat.inc"

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2
// Lane b: the largest magnitude bits of vectors kVectors b .. of kLanes blocks. Two vectors at a
// time become one that holds maxima of both.
template <int kVectors, class T>
inline Ints block_maxima(const T* x) {
  Ints v[kLanes];
  for (std::int64_t b = 0; b < kLanes; ++b) {
    const auto magnitude = [&](std::int64_t i) {
      return hn::BitCast(kIntTag, hn::Abs(load(x + kLanes * (kVectors * b + i))));
    };
    v[b] = magnitude(0);
    for (int i = 1; i < kVectors; ++i) v[b] = hn::Max(v[b], magnitude(i));
  }
  for (std::int64_t i = 0; i < kLanes / 2; ++i)
    v[i] = hn::Max(hn::InterleaveLower(kIntTag, v[2 * i], v[2 * i + 1]),
                   hn::InterleaveUpper(kIntTag, v[2 * i], v[2 * i + 1]));
  const hn::Repartition<std::int64_t, IntTag> pairs;
  for (std::int64_t i = 0; i < kLanes / 4; ++i) {
    const auto a = hn::BitCast(pairs, v[2 * i]);
    const auto b = hn::BitCast(pairs, v[2 * i + 1]);
    v[i] = hn::Max(hn::BitCast(kIntTag, hn::InterleaveLower(pairs, a, b)),
                   hn::BitCast(kIntTag, hn::InterleaveUpper(pairs, a, b)));
  }
#if HWY_TARGET <= HWY_AVX3
  const auto fold = [](Ints a, Ints b) {
    return hn::Max(Ints{_mm512_shuffle_i32x4(a.raw, b.raw, 0x88)},
                   Ints{_mm512_shuffle_i32x4(a.raw, b.raw, 0xDD)});
  };
  return fold(fold(v[0], v[1]), fold(v[2], v[3]));
#else
  return hn::Max(Ints{_mm256_permute2x128_si256(v[0].raw, v[1].raw, 0x20)},
                 Ints{_mm256_permute2x128_si256(v[0].raw, v[1].raw, 0x31)});
#endif
}

HWY_INLINE bool are_finite(Ints magnitudes) {
  return hn::AllTrue(kIntTag, hn::Lt(magnitudes, hn::Set(kIntTag, 0x7F800000)));
}

// Codes of kLanes blocks of kBlock elements: quotient(block, values) divides by the block's scale.
template <class Format, int kBlock, class T, class Quotient>
HWY_INLINE void store_blocks(const T* HWY_RESTRICT x, std::uint8_t* HWY_RESTRICT codes,
                             Quotient&& quotient) {
  const auto code = [&](std::int64_t i) {
    const Floats v = load(x + i);
    return small_codes<Format, kFinite>(quotient(i / kBlock, v), v);
  };
  for (std::int64_t i = 0; i < kLanes * kBlock; i += 4 * kLanes)
    store_bytes(code(i), code(i + kLanes), code(i + 2 * kLanes), code(i + 3 * kLanes), codes + i);
}
#endif

// Largest finite magnitude of a block.
template <int kCount, class T>
float max_finite(const T* HWY_RESTRICT x) {
  std::uint32_t largest = 0;
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t magnitude = magnitude_bits(finite_or_zero(widened(x[i])));
    largest = magnitude > largest ? magnitude : largest;
  }
  return float_of(largest);
}

// A block of MX: the stored exponent of its scale, and its codes.
template <class Format, class T>
std::uint8_t encode_mx_block(const T* HWY_RESTRICT x, int emax, std::uint8_t* HWY_RESTRICT codes) {
  const std::uint8_t stored = mx_exponent(bits_of(max_finite<kMxBlock>(x)), emax);
  const float inverse = mx_inverse_scale(stored);  // this product and the quotient are the same
  for (int i = 0; i < kMxBlock; ++i)
    codes[i] = static_cast<std::uint8_t>(Format::encode(widened(x[i]) * inverse));
  return stored;
}

template <class Format, class T>
void encode_mx_format(const T* HWY_RESTRICT x, std::int64_t blocks, int emax,
                      std::uint8_t* HWY_RESTRICT exponents, std::uint8_t* HWY_RESTRICT codes) {
  std::int64_t b = 0;
  const auto one_by_one = [&](std::int64_t end) {
    for (; b < end; ++b)
      exponents[b] = encode_mx_block<Format>(x + b * kMxBlock, emax, codes + b * kMxBlock);
  };
#if HWY_TARGET <= HWY_AVX2
  while (b + kLanes <= blocks) {
    const T* const group = x + b * kMxBlock;
    const Ints absmax = block_maxima<kMxBlock / kLanes>(group);
    if (!are_finite(absmax)) {
      one_by_one(b + kLanes);
      continue;
    }
    // mx_exponent. A subnormal has exponent field 0, which the limit of e takes to 0 as it does the
    // true exponent, since emax is not negative.
    const Ints last = hn::Set(kIntTag, 254);
    const Ints e = hn::Sub(hn::ShiftRight<23>(absmax), hn::Set(kIntTag, emax));
    const Ints stored = hn::Min(hn::Max(e, hn::Zero(kIntTag)), last);
    store_bytes(stored, exponents + b);
    const Ints field = hn::ShiftLeft<23>(hn::Sub(last, stored));
    alignas(64) std::int32_t inverse[kLanes];
    hn::Store(hn::IfThenElse(hn::Eq(stored, last), hn::Set(kIntTag, 0x00400000), field), kIntTag,
              inverse);
    store_blocks<Format, kMxBlock>(group, codes + b * kMxBlock, [&](std::int64_t at, Floats v) {
      return hn::Mul(v, hn::BitCast(kFloatTag, hn::Set(kIntTag, inverse[at])));
    });
    b += kLanes;
  }
#endif
  one_by_one(blocks);
}

void encode_mx(SmallFloat format, Input x, std::int64_t blocks, int emax, std::uint8_t* exponents,
               std::uint8_t* codes) {
  with_format(format, [&](auto f) {
    x.with([&](const auto* values) {
      encode_mx_format<decltype(f)>(values, blocks, emax, exponents, codes);
    });
  });
}

template <class T>
void encode_nvfp4_of(const T* HWY_RESTRICT x, std::int64_t blocks, float t,
                     std::uint8_t* HWY_RESTRICT scale_codes, std::uint8_t* HWY_RESTRICT codes) {
  std::int64_t b = 0;
  const auto one_by_one = [&](std::int64_t end) {
    for (; b < end; ++b) {
      const T* const block = x + b * kNvFp4Block;
      const std::uint32_t code = E4M3::encode((max_finite<kNvFp4Block>(block) / 6.0f) / t);
      const float scale = E4M3::decode(code) * t;
      scale_codes[b] = static_cast<std::uint8_t>(code);
      for (int i = 0; i < kNvFp4Block; ++i)
        codes[b * kNvFp4Block + i] =
            static_cast<std::uint8_t>(scale == 0.0f ? 0u : E2M1::encode(widened(block[i]) / scale));
    }
  };
#if HWY_TARGET <= HWY_AVX2
  const auto set = [](float value) { return hn::Set(kFloatTag, value); };
  while (b + kLanes <= blocks) {
    const T* const group = x + b * kNvFp4Block;
    const Ints absmax = block_maxima<kNvFp4Block / kLanes>(group);
    const Floats share = hn::Div(hn::Div(hn::BitCast(kFloatTag, absmax), set(6.0f)), set(t));
    const Ints code = small_codes<E4M3, kFinite>(share, share);
    const Floats subnormal = hn::Mul(hn::ConvertTo(kFloatTag, code), set(0x1p-9f));
    const Floats normal =
        hn::BitCast(kFloatTag, hn::Add(hn::ShiftLeft<20>(code), hn::Set(kIntTag, 120 << 23)));
    const auto is_subnormal = hn::RebindMask(kFloatTag, hn::Lt(code, hn::Set(kIntTag, 8)));
    const Floats scale = hn::Mul(hn::IfThenElse(is_subnormal, subnormal, normal), set(t));
    const auto is_small_or_large =
        hn::Or(hn::Lt(scale, set(0x1p-60f)), hn::Gt(scale, set(0x1p60f)));
    if (!are_finite(absmax) || !hn::AllFalse(kFloatTag, is_small_or_large)) {
      one_by_one(b + kLanes);
      continue;
    }
    store_bytes(code, scale_codes + b);
    alignas(64) float scales[kLanes];
    alignas(64) float inverses[kLanes];
    hn::Store(scale, kFloatTag, scales);
    hn::Store(hn::Div(set(1.0f), scale), kFloatTag, inverses);
    store_blocks<E2M1, kNvFp4Block>(group, codes + b * kNvFp4Block, [&](std::int64_t at, Floats v) {
      return near_quotient(v, set(scales[at]), set(inverses[at]));
    });
    b += kLanes;
  }
#endif
  one_by_one(blocks);
}

void encode_nvfp4(Input x, std::int64_t blocks, float t, std::uint8_t* scale_codes,
                  std::uint8_t* codes) {
  x.with([&](const auto* values) { encode_nvfp4_of(values, blocks, t, scale_codes, codes); });
}

template <class Format, int kBlock, bool kAdd>
void decode_blocks_loop(const std::uint8_t* HWY_RESTRICT codes, std::int64_t blocks,
                        const float* HWY_RESTRICT scales, float* HWY_RESTRICT out) {
  for (std::int64_t b = 0; b < blocks; ++b, codes += kBlock, out += kBlock) {
    const float scale = scales[b];
#if HWY_TARGET <= HWY_AVX2
    if constexpr (Format::kWidth == 4) {
      const Table16 values(kFourBits.data());
      const Floats s = hn::Set(kFloatTag, scale);
      for (int i = 0; i < kBlock; i += static_cast<int>(kLanes)) {
        Floats value = hn::Mul(values[load_codes(codes + i)], s);
        if constexpr (kAdd) value = hn::Add(load(out + i), value);
        hn::StoreU(value, kFloatTag, out + i);
      }
      continue;
    }
#endif
    for (int i = 0; i < kBlock; ++i) {
      const float value = Format::decode(codes[i]) * scale;
      out[i] = kAdd ? out[i] + value : value;
    }
  }
}

template <int kBlock>
void decode_blocks_of(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
                      const float* scales, bool is_accumulated, float* out) {
  with_format(format, [&](auto f) {
    if (is_accumulated)
      decode_blocks_loop<decltype(f), kBlock, true>(codes, blocks, scales, out);
    else
      decode_blocks_loop<decltype(f), kBlock, false>(codes, blocks, scales, out);
  });
}

void decode_mx(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
               const float* scales, bool is_accumulated, float* out) {
  decode_blocks_of<kMxBlock>(format, codes, blocks, scales, is_accumulated, out);
}

void decode_nvfp4(const std::uint8_t* codes, std::int64_t blocks, const float* scales,
                  bool is_accumulated, float* out) {
  decode_blocks_of<kNvFp4Block>(SmallFloat::kE2M1, codes, blocks, scales, is_accumulated, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

HWY_EXPORT(encode_mx);
HWY_EXPORT(decode_mx);
HWY_EXPORT(encode_nvfp4);
HWY_EXPORT(decode_nvfp4);

void encode_mx(SmallFloat format, Input x, std::int64_t blocks, int emax, std::uint8_t* exponents,
               std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_mx)(format, x, blocks, emax, exponents, codes);
}
void decode_mx(SmallFloat format, const std::uint8_t* codes, std::int64_t blocks,
               const float* scales, bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_mx)(format, codes, blocks, scales, is_accumulated, out);
}
void encode_nvfp4(Input x, std::int64_t blocks, float t, std::uint8_t* scale_codes,
                  std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(encode_nvfp4)(x, blocks, t, scale_codes, codes);
}
void decode_nvfp4(const std::uint8_t* codes, std::int64_t blocks, const float* scales,
                  bool is_accumulated, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_nvfp4)(codes, blocks, scales, is_accumulated, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
