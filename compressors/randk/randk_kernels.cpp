// SPDX-License-Identifier: Apache-2.0
#include "compressors/randk/randk_kernels.hpp"

#include "compressors/api/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/randk/randk_kernels.cpp"
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

// Ends of one stratum in kLanes, and their remainders; a step goes on by kLanes strata.
struct Ends {
  Vector place;
  hn::Vec<hn::ScalableTag<std::int32_t>> remainder;

  void step(Vector each, std::int32_t rest, std::int32_t k) {
    const hn::ScalableTag<std::int32_t> d;
    const auto over = hn::Add(remainder, hn::Set(d, rest - k));  // negative: no carry
    const auto carries = hn::Not(hn::Lt(over, hn::Zero(d)));
    remainder = hn::IfThenElse(carries, over, hn::Add(over, hn::Set(d, k)));
    // A mask is -1 in its lanes.
    place = hn::Sub(hn::Add(place, each), hn::BitCast(Words(), hn::VecFromMask(d, carries)));
  }
};
#endif

void place_in_strata(std::int64_t n, std::int64_t k, std::uint32_t* HWY_RESTRICT draws) {
  Strata strata(n, k);
  std::int64_t j = 0;
#if HWY_TARGET <= HWY_AVX2
  // Lengths fit 32 bits, and sums of two remainders 31.
  if (k >= 2 * kLanes && k < std::int64_t{1} << 30) {
    const Words d;
    const hn::ScalableTag<std::int32_t> signed_d;
    alignas(64) std::uint32_t places[2][kLanes];
    alignas(64) std::int32_t remainders[2][kLanes];
    Strata first = strata;
    for (std::int64_t lane = 0; lane < kLanes; ++lane, first.next()) {
      places[0][lane] = static_cast<std::uint32_t>(first.low());
      places[1][lane] = static_cast<std::uint32_t>(first.high());
      remainders[0][lane] = static_cast<std::int32_t>(first.low_remainder());
      remainders[1][lane] = static_cast<std::int32_t>(first.high_remainder());
    }
    Ends low{hn::Load(d, places[0]), hn::Load(signed_d, remainders[0])};
    Ends high{hn::Load(d, places[1]), hn::Load(signed_d, remainders[1])};
    const std::int64_t rest = n % k * kLanes;
    const Vector each = hn::Set(d, static_cast<std::uint32_t>(n / k * kLanes + rest / k));
    const auto step_rest = static_cast<std::int32_t>(rest % k);
    const auto step_k = static_cast<std::int32_t>(k);
    for (; j + kLanes <= k; j += kLanes) {
      const Vector inside = multiply_high(hn::LoadU(d, draws + j), hn::Sub(high.place, low.place));
      hn::StoreU(hn::Add(low.place, inside), d, draws + j);
      low.step(each, step_rest, step_k);
      high.step(each, step_rest, step_k);
    }
    // The tail starts anew: its remainder is that of j n / k.
    strata = Strata::at(n, k, j);
  }
#endif
  for (; j < k; ++j, strata.next()) {
    const std::uint64_t inside =
        (std::uint64_t{draws[j]} * static_cast<std::uint64_t>(strata.length())) >> 32;
    draws[j] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(strata.low()) + inside);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(place_in_strata);
void place_in_strata(std::int64_t n, std::int64_t k, std::uint32_t* draws) {
  HWY_DYNAMIC_DISPATCH(place_in_strata)(n, k, draws);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
