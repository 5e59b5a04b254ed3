// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/kernels.hpp"

#include <bit>

#include "compressors/api/floats.hpp"
#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/api/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Finite magnitudes stay, others become 0.
inline std::uint32_t finite_magnitude(float x) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu;
  return magnitude < kInfinityBits ? magnitude : 0u;
}

float max_magnitude(const float* x, std::int64_t count, float start) {
  std::int64_t i = 0;
  std::uint32_t largest = bits_of(start);
#if HWY_TARGET <= HWY_AVX2
  // First without a look at what is finite; the order of magnitudes puts Inf and NaN on top.
  const hn::ScalableTag<std::int32_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto mask = hn::Set(d, 0x7FFFFFFF);
  auto a = hn::Set(d, static_cast<std::int32_t>(largest));
  auto b = a;
  const auto* bits = reinterpret_cast<const std::int32_t*>(x);
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Max(a, hn::And(hn::LoadU(d, bits + i), mask));
    b = hn::Max(b, hn::And(hn::LoadU(d, bits + i + lanes), mask));
  }
  const auto found = static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b))));
  if (found < kInfinityBits)
    largest = found;
  else
    i = 0;
#endif
  for (; i < count; ++i) {
    const std::uint32_t magnitude = finite_magnitude(x[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return float_of(largest);
}

void max_magnitude_each(const float* HWY_RESTRICT x, std::int64_t count,
                        float* HWY_RESTRICT largest) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = finite_magnitude(x[i]);
    const std::uint32_t so_far = bits_of(largest[i]);
    largest[i] = float_of(magnitude > so_far ? magnitude : so_far);
  }
}

// Floats as integers in the same order: negative ones have all their other bits flipped.
inline std::int32_t ordered(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7FFFFFFF);
}
inline float from_ordered(std::int32_t key) {
  return std::bit_cast<float>(key ^ ((key >> 31) & 0x7FFFFFFF));
}

void min_max(const float* x, std::int64_t count, float& low, float& high) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  // Adding 0 makes -0 +0; a NaN as first operand gives the second one; an infinity is seen at the
  // end.
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  auto low_a = hn::Set(d, kFloat32Max);
  auto low_b = low_a;
  auto high_a = hn::Neg(low_a);
  auto high_b = high_a;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto a = hn::Add(hn::LoadU(d, x + i), zero);
    const auto b = hn::Add(hn::LoadU(d, x + i + lanes), zero);
    low_a = hn::Min(a, low_a);
    low_b = hn::Min(b, low_b);
    high_a = hn::Max(a, high_a);
    high_b = hn::Max(b, high_b);
  }
  const float found_low = hn::GetLane(hn::MinOfLanes(d, hn::Min(low_a, low_b)));
  const float found_high = hn::GetLane(hn::MaxOfLanes(d, hn::Max(high_a, high_b)));
  if (found_low < -kFloat32Max || found_high > kFloat32Max || found_low > found_high) {
    i = 0;
  } else {
    low = found_low < low ? found_low : low;
    high = found_high > high ? found_high : high;
  }
#endif
  std::int32_t smallest = ordered(low);
  std::int32_t largest = ordered(high);
  for (; i < count; ++i) {
    const bool is_finite = (std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFu) < kInfinityBits;
    const std::int32_t key = ordered(x[i] + 0.0f);
    const std::int32_t for_min = is_finite ? key : 0x7F800000;
    const std::int32_t for_max = is_finite ? key : -0x7F800001;
    smallest = for_min < smallest ? for_min : smallest;
    largest = for_max > largest ? for_max : largest;
  }
  low = from_ordered(smallest);
  high = from_ordered(largest);
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

float max_magnitude(const float* x, std::int64_t count, float start) {
  return HWY_DYNAMIC_DISPATCH(max_magnitude)(x, count, start);
}
void max_magnitude_each(const float* x, std::int64_t count, float* largest) {
  HWY_DYNAMIC_DISPATCH(max_magnitude_each)(x, count, largest);
}
void min_max(const float* x, std::int64_t count, float& low, float& high) {
  HWY_DYNAMIC_DISPATCH(min_max)(x, count, low, high);
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
