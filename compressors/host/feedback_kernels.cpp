// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/feedback_kernels.hpp"

#include "compressors/host/simd.hpp"
#include "compressors/wire/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/host/feedback_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

void add_state(float* HWY_RESTRICT x, const float* HWY_RESTRICT state, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] += state[i];
}

void subtract_state(float* HWY_RESTRICT x, const float* HWY_RESTRICT state, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] -= state[i];
}

void store_difference(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::int64_t count,
                      float* HWY_RESTRICT state) {
  for (std::int64_t i = 0; i < count; ++i) state[i] = finite_or_zero(a[i] - b[i]);
}

void advance_state(float* HWY_RESTRICT x, std::int64_t count, float* HWY_RESTRICT state) {
  for (std::int64_t i = 0; i < count; ++i) {
    x[i] = state[i] + x[i];
    state[i] = finite_or_zero(x[i]);
  }
}

void store_finite(const float* x, std::int64_t count, float* state) {
  for (std::int64_t i = 0; i < count; ++i) state[i] = finite_or_zero(x[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(add_state);
HWY_EXPORT(subtract_state);
HWY_EXPORT(store_difference);
HWY_EXPORT(advance_state);
HWY_EXPORT(store_finite);
void add_state(float* x, const float* state, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(add_state)(x, state, count);
}
void subtract_state(float* x, const float* state, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(subtract_state)(x, state, count);
}
void store_difference(const float* a, const float* b, std::int64_t count, float* state) {
  HWY_DYNAMIC_DISPATCH(store_difference)(a, b, count, state);
}
void advance_state(float* x, std::int64_t count, float* state) {
  HWY_DYNAMIC_DISPATCH(advance_state)(x, count, state);
}
void store_finite(const float* x, std::int64_t count, float* state) {
  HWY_DYNAMIC_DISPATCH(store_finite)(x, count, state);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE
