// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/randk/randk_kernels.hpp"

#include "compressors/host/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/randk/randk_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX2
using Words = hn::ScalableTag<std::uint32_t>;
using Vector = hn::Vec<Words>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Words()));

inline Vector multiply_high(Vector a, Vector b) {
  const Words d;
  const hn::ScalableTag<std::uint64_t> wide;
  const auto odd = [&](Vector v) {
    return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, v)));
  };
  const auto even_product = hn::ShiftRight<32>(hn::MulEven(a, b));
  return hn::OddEven(hn::BitCast(d, hn::MulEven(odd(a), odd(b))), hn::BitCast(d, even_product));
}

// Calls visit(i, low, length) for kLanes strata first + i .. at i = 0, kLanes, .. while whole
// vectors are left; returns how many strata that were.
template <class Visit>
inline std::int64_t for_each_strata(std::int64_t n, std::int64_t k, std::int64_t first,
                                    std::int64_t count, Visit&& visit) {
  // Lengths fit 32 bits, and sums of two remainders 31.
  if (count < 2 * kLanes || k >= std::int64_t{1} << 30) return 0;
  const Words d;
  const hn::ScalableTag<std::int32_t> signed_d;
  alignas(64) std::uint32_t places[kLanes];
  alignas(64) std::int32_t remainders[kLanes];
  Strata strata = Strata::at(n, k, first);
  for (std::int64_t lane = 0; lane < kLanes; ++lane, strata.next()) {
    places[lane] = static_cast<std::uint32_t>(strata.low());
    remainders[lane] = static_cast<std::int32_t>(strata.low_remainder());
  }
  Vector low = hn::Load(d, places);
  auto remainder = hn::Load(signed_d, remainders);  // of j n / k, where stratum j begins
  const auto all_k = hn::Set(signed_d, static_cast<std::int32_t>(k));
  const auto carry = [&](auto over) {  // 1 where a remainder of over + k is k or more
    return hn::ShiftRight<31>(hn::BitCast(d, hn::Not(over)));
  };
  // One stratum further, and kLanes.
  const Vector each = hn::Set(d, static_cast<std::uint32_t>(n / k));
  const auto less = hn::Set(signed_d, static_cast<std::int32_t>(n % k - k));
  const std::int64_t rest = n % k * kLanes;
  const Vector each_step = hn::Set(d, static_cast<std::uint32_t>(n / k * kLanes + rest / k));
  const auto less_step = hn::Set(signed_d, static_cast<std::int32_t>(rest % k - k));
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    visit(i, low, hn::Add(each, carry(hn::Add(remainder, less))));
    const auto over = hn::Add(remainder, less_step);
    low = hn::Add(hn::Add(low, each_step), carry(over));
    remainder =
        hn::BitCast(signed_d, hn::Min(hn::BitCast(d, over), hn::BitCast(d, hn::Add(over, all_k))));
  }
  return i;
}
#endif

void place_in_strata(std::int64_t n, std::int64_t k, std::int64_t first, std::int64_t count,
                     std::uint32_t* HWY_RESTRICT draws) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  i = for_each_strata(n, k, first, count, [&](std::int64_t at, Vector low, Vector length) {
    const Words d;
    const Vector inside = multiply_high(hn::LoadU(d, draws + at), length);
    hn::StoreU(hn::Add(low, inside), d, draws + at);
  });
#endif
  if (i == count) return;
  for (Strata strata = Strata::at(n, k, first + i); i < count; ++i, strata.next()) {
    const std::uint64_t inside =
        (std::uint64_t{draws[i]} * static_cast<std::uint64_t>(strata.length())) >> 32;
    draws[i] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(strata.low()) + inside);
  }
}

void multiply_by_lengths(std::int64_t n, std::int64_t k, std::int64_t first, std::int64_t count,
                         float* HWY_RESTRICT values) {
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  // The conversion is of signed numbers.
  if (n / k < (std::int64_t{1} << 31) - 1)
    i = for_each_strata(n, k, first, count, [&](std::int64_t at, Vector, Vector length) {
      const hn::ScalableTag<float> d;
      const hn::ScalableTag<std::int32_t> signed_d;
      const auto factor = hn::ConvertTo(d, hn::BitCast(signed_d, length));
      hn::StoreU(hn::Mul(hn::LoadU(d, values + at), factor), d, values + at);
    });
#endif
  if (i == count) return;
  for (Strata strata = Strata::at(n, k, first + i); i < count; ++i, strata.next())
    values[i] *= static_cast<float>(strata.length());
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(place_in_strata);
HWY_EXPORT(multiply_by_lengths);
void place_in_strata(std::int64_t n, std::int64_t k, std::int64_t first, std::int64_t count,
                     std::uint32_t* draws) {
  HWY_DYNAMIC_DISPATCH(place_in_strata)(n, k, first, count, draws);
}
void multiply_by_lengths(std::int64_t n, std::int64_t k, std::int64_t first, std::int64_t count,
                         float* values) {
  HWY_DYNAMIC_DISPATCH(multiply_by_lengths)(n, k, first, count, values);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
