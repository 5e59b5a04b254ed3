// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/kernels.hpp"

#include <bit>

#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/host/lanes.inc"

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Finite magnitudes stay, others become 0.
inline std::uint32_t finite_magnitude(float x) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu;
  return magnitude < kInfinityBits ? magnitude : 0u;
}

template <class T>
bool max_magnitude_of(const T* HWY_RESTRICT x, std::int64_t count, float& most) {
  std::int64_t i = 0;
  std::uint32_t largest = bits_of(most);
#if HWY_TARGET <= HWY_AVX2
  // First without a look at what is finite; the order of magnitudes puts Inf and NaN on top. The
  // first and the last vector may overlap others.
  if (count >= kLanes) {
    Ints found[2];
    found[0] = found[1] = hn::Set(kIntTag, static_cast<std::int32_t>(largest));
    const auto take = [&](std::int64_t at, int way) {
      found[way] = hn::Max(found[way], hn::BitCast(kIntTag, hn::Abs(load(x + at))));
    };
    take(0, 0);
    for (i = boundary(x); i + 2 * kLanes <= count; i += 2 * kLanes) {
      take(i, 0);
      take(i + kLanes, 1);
    }
    if (i + kLanes <= count) take(i, 0);
    take(count - kLanes, 1);
    const auto top = static_cast<std::uint32_t>(
        hn::GetLane(hn::MaxOfLanes(kIntTag, hn::Max(found[0], found[1]))));
    i = 0;
    if (top < kInfinityBits) {
      largest = top;
      i = count;
    }
  }
#endif
  bool are_finite = true;
  for (; i < count; ++i) {
    const float value = widened(x[i]);
    const std::uint32_t magnitude = finite_magnitude(value);
    are_finite &= magnitude == (std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu);
    largest = magnitude > largest ? magnitude : largest;
  }
  most = float_of(largest);
  return are_finite;
}

bool max_magnitude(Input x, std::int64_t count, float& most) {
  return x.with([&](const auto* values) { return max_magnitude_of(values, count, most); });
}

template <class T>
bool max_magnitude_each_of(const T* HWY_RESTRICT x, std::int64_t rows, std::int64_t stride,
                           std::int64_t count, float* HWY_RESTRICT largest) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  // As above: without a look at what is finite, and again with one where something was not.
  auto* const found = reinterpret_cast<std::int32_t*>(largest);
  const auto magnitude = [&](std::int64_t row, std::int64_t at) {
    return hn::BitCast(kIntTag, hn::Abs(load(x + row * stride + at)));
  };
  for (; i + kLanes <= count; i += kLanes) {
    Ints most = hn::LoadU(kIntTag, found + i);
    for (std::int64_t row = 0; row < rows; ++row) most = hn::Max(most, magnitude(row, i));
    // What is not finite stays out of the result.
    if (!hn::AllTrue(kIntTag, hn::Lt(most, hn::Set(kIntTag, 0x7F800000)))) break;
    hn::StoreU(most, kIntTag, found + i);
  }
#endif
  bool are_finite = true;
  for (; i < count; ++i) {
    std::uint32_t most = bits_of(largest[i]);
    for (std::int64_t row = 0; row < rows; ++row) {
      const float value = widened(x[row * stride + i]);
      const std::uint32_t magnitude = finite_magnitude(value);
      are_finite &= magnitude == (std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu);
      most = magnitude > most ? magnitude : most;
    }
    largest[i] = float_of(most);
  }
  return are_finite;
}

bool max_magnitude_each(Input x, std::int64_t rows, std::int64_t stride, std::int64_t count,
                        float* largest) {
  return x.with([&](const auto* values) {
    return max_magnitude_each_of(values, rows, stride, count, largest);
  });
}

// Floats as integers in the same order: negative ones have all their other bits flipped.
inline std::int32_t ordered(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7FFFFFFF);
}
inline float from_ordered(std::int32_t key) {
  return std::bit_cast<float>(key ^ ((key >> 31) & 0x7FFFFFFF));
}

#if HWY_TARGET <= HWY_AVX2
// x*0 is 0 where x is finite and NaN elsewhere, which sticks.
struct Range {
  Floats low;
  Floats high;
  Floats zero;

  explicit Range(Floats x) : low(x), high(x), zero(hn::Mul(x, hn::Zero(kFloatTag))) {}
  HWY_INLINE void take(Floats x) {
    low = hn::Min(low, x);
    high = hn::Max(high, x);
    zero = hn::MulAdd(x, hn::Zero(kFloatTag), zero);
  }
  HWY_INLINE void join(const Range& other) {
    low = hn::Min(low, other.low);
    high = hn::Max(high, other.high);
    zero = hn::Add(zero, other.zero);
  }
};

// Of at least kLanes elements; -0 and +0 are one value here. The first and the last vector may
// overlap others.
template <class T>
HWY_INLINE Range range_of(const T* HWY_RESTRICT x, std::int64_t count) {
  Range a(load(x));
  Range b = a;
  Range c = a;
  Range d = a;
  std::int64_t i = boundary(x);
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    a.take(in_register(load(x + i)));
    b.take(in_register(load(x + i + kLanes)));
    c.take(in_register(load(x + i + 2 * kLanes)));
    d.take(in_register(load(x + i + 3 * kLanes)));
  }
  for (; i + kLanes <= count; i += kLanes) a.take(in_register(load(x + i)));
  if (i < count) b.take(load(x + count - kLanes));
  a.join(b);
  c.join(d);
  a.join(c);
  return a;
}
#endif

template <class T>
bool min_max_of(const T* HWY_RESTRICT x, std::int64_t count, float& low, float& high) {
  std::int64_t i = 0;
  bool are_finite = true;
#if HWY_TARGET <= HWY_AVX2
  if (count >= kLanes) {
    const Range range = range_of(x, count);
    are_finite = hn::AllTrue(kFloatTag, hn::Eq(range.zero, range.zero));
    if (are_finite) {
      const float least = hn::GetLane(hn::MinOfLanes(kFloatTag, range.low)) + 0.0f;
      const float most = hn::GetLane(hn::MaxOfLanes(kFloatTag, range.high)) + 0.0f;
      low = least < low ? least : low;
      high = most > high ? most : high;
      return true;
    }
  }
#endif
  std::int32_t smallest = ordered(low);
  std::int32_t largest = ordered(high);
  for (; i < count; ++i) {
    const float value = widened(x[i]);
    const bool is_finite = (std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu) < kInfinityBits;
    are_finite &= is_finite;
    const std::int32_t key = ordered(value + 0.0f);
    const std::int32_t for_min = is_finite ? key : 0x7F800000;
    const std::int32_t for_max = is_finite ? key : -0x7F800001;
    smallest = for_min < smallest ? for_min : smallest;
    largest = for_max > largest ? for_max : largest;
  }
  low = from_ordered(smallest);
  high = from_ordered(largest);
  return are_finite;
}

bool min_max(Input x, std::int64_t count, float& low, float& high) {
  return x.with([&](const auto* values) { return min_max_of(values, count, low, high); });
}

void min_max_each(const float* HWY_RESTRICT x, std::int64_t count, float* HWY_RESTRICT low,
                  float* HWY_RESTRICT high) {
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_finite = (std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFu) < kInfinityBits;
    const float value = x[i] + 0.0f;
    const float for_min = is_finite ? value : low[i];
    const float for_max = is_finite ? value : high[i];
    low[i] = for_min < low[i] ? for_min : low[i];
    high[i] = for_max > high[i] ? for_max : high[i];
  }
}

template <bool kSquares>
inline float term(float x) {
  const float magnitude = std::bit_cast<float>(finite_magnitude(x));
  return kSquares ? magnitude * magnitude : magnitude;
}

template <bool kSquares>
float block_sum_of(const float* HWY_RESTRICT x, std::int64_t count) {
  float lanes[32] = {};
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const hn::ScalableTag<float> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  constexpr std::size_t kVectors = 32 / kLanes;
  const auto infinity = hn::Set(d, float_of(kInfinityBits));
  hn::Vec<hn::ScalableTag<float>> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (; i + 32 <= count; i += 32) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      auto magnitude = hn::Abs(hn::LoadU(d, x + i + v * kLanes));
      magnitude = hn::IfThenElseZero(hn::Lt(magnitude, infinity), magnitude);
      sums[v] = hn::Add(sums[v], kSquares ? hn::Mul(magnitude, magnitude) : magnitude);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, lanes + v * kLanes);
#else
  for (; i + 32 <= count; i += 32) {
    for (int lane = 0; lane < 32; ++lane) lanes[lane] += term<kSquares>(x[i + lane]);
  }
#endif
  for (int lane = 0; i + lane < count; ++lane) lanes[lane] += term<kSquares>(x[i + lane]);
  for (int half = 16; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

float block_sum(const float* x, std::int64_t count, bool squares) {
  return squares ? block_sum_of<true>(x, count) : block_sum_of<false>(x, count);
}

void lane_sum_each(const float* HWY_RESTRICT x, std::int64_t count, bool squares,
                   float* HWY_RESTRICT lanes) {
  if (squares) {
    for (std::int64_t i = 0; i < count; ++i) lanes[i] += term<true>(x[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) lanes[i] += term<false>(x[i]);
  }
}

void magnitude_keys(const float* HWY_RESTRICT x, std::int64_t count,
                    std::uint32_t* HWY_RESTRICT keys) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFu;
    keys[i] = magnitude > kInfinityBits ? 0x7FC00000u : magnitude;
  }
}

void add(const float* HWY_RESTRICT x, std::int64_t count, float* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] += x[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {

HWY_EXPORT(max_magnitude);
HWY_EXPORT(max_magnitude_each);
HWY_EXPORT(min_max);
HWY_EXPORT(min_max_each);
HWY_EXPORT(block_sum);
HWY_EXPORT(lane_sum_each);
HWY_EXPORT(magnitude_keys);
HWY_EXPORT(add);

bool max_magnitude(Input x, std::int64_t count, float& most) {
  return HWY_DYNAMIC_DISPATCH(max_magnitude)(x, count, most);
}
bool max_magnitude_each(Input x, std::int64_t rows, std::int64_t stride, std::int64_t count,
                        float* largest) {
  return HWY_DYNAMIC_DISPATCH(max_magnitude_each)(x, rows, stride, count, largest);
}
bool min_max(Input x, std::int64_t count, float& low, float& high) {
  return HWY_DYNAMIC_DISPATCH(min_max)(x, count, low, high);
}
void min_max_each(const float* x, std::int64_t count, float* low, float* high) {
  HWY_DYNAMIC_DISPATCH(min_max_each)(x, count, low, high);
}
float block_sum(const float* x, std::int64_t count, bool squares) {
  return HWY_DYNAMIC_DISPATCH(block_sum)(x, count, squares);
}
void lane_sum_each(const float* x, std::int64_t count, bool squares, float* lanes) {
  HWY_DYNAMIC_DISPATCH(lane_sum_each)(x, count, squares, lanes);
}
void magnitude_keys(const float* x, std::int64_t count, std::uint32_t* keys) {
  HWY_DYNAMIC_DISPATCH(magnitude_keys)(x, count, keys);
}
void add(const float* x, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(add)(x, count, out);
}

}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
