// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/cuda_emulator/emulator.hpp"

/// The CUDA names that kernels may use, for an ordinary C++ compiler. Only
/// compressors/device/device.cuh includes it.

// ---- vector types and the thread's place
struct alignas(8) uint2 {
  unsigned x, y;
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// Set whenever a thread gets its turn.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)

namespace tersor::emulator {

struct Site {
  int line;
  const char* file;
};
inline Site here(int line, const char* file) { return {line, file}; }

enum class Barrier : std::uint8_t { kSync, kCount, kAnd, kOr };
int block_barrier(Barrier kind, int predicate, Site site);

enum class WarpOp : std::uint8_t {
  kSync,
  kShuffle,
  kBallot,
  kAny,
  kAll,
  kMatchAny,
  kAdd,
  kMax,
  kMin,
  kOr,
  kAnd
};
std::uint64_t warp_op(WarpOp op, unsigned mask, std::uint64_t value, int source, Site site);
unsigned lane_id();

/// The memory of a __shared__ variable in the running block; `key` names the variable.
void* shared_memory(const void* key, std::size_t bytes);
void* dynamic_shared_memory();
void yield();

/// An access of `bytes` bytes that must be aligned to them.
void check_vector(const void* address, std::size_t bytes, bool is_write);
void note_atomic(void* address, std::size_t bytes);
void copy_unseen(void* to, const void* from, std::size_t bytes);

template <class T>
T shuffle(unsigned mask, T value, int source, Site site) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = warp_op(WarpOp::kShuffle, mask, bits, source, site);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T load_vector(const T* from) {
  check_vector(from, sizeof(T), false);
  T value;
  copy_unseen(&value, from, sizeof(T));
  return value;
}
template <class T>
void store_vector(T* to, T value) {
  check_vector(to, sizeof(T), true);
  copy_unseen(to, &value, sizeof(T));
}

template <class T, class Change>
T read_modify_write(T* at, Change change) {
  note_atomic(at, sizeof(T));
  T old;
  copy_unseen(&old, at, sizeof(T));
  const T changed = change(old);
  copy_unseen(at, &changed, sizeof(T));
  return old;
}

template <class... P, class... A>
void launch_kernel(const char* name, void (*kernel)(P...), dim3 grid, dim3 block,
                   std::size_t shared_bytes, void*, A... arguments) {
  static_assert(sizeof...(P) == sizeof...(A));
  launch(name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes,
         [=] { kernel(arguments...); });
}

}  // namespace tersor::emulator

#define TERSOR_SHARED(T, name)              \
  static const char name##_shared_key_ = 0; \
  T& name = *static_cast<T*>(::tersor::emulator::shared_memory(&name##_shared_key_, sizeof(T)))
#define TERSOR_SHARED_ARRAY(T, name, count) \
  static const char name##_shared_key_ = 0; \
  T(&name)                                  \
  [count] = *static_cast<T(*)[count]>(      \
      ::tersor::emulator::shared_memory(&name##_shared_key_, sizeof(T) * (count)))
#define TERSOR_DYNAMIC_SHARED(T, name) \
  T* name = static_cast<T*>(::tersor::emulator::dynamic_shared_memory())
#define TERSOR_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  ::tersor::emulator::launch_kernel(#kernel, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

// ---- barriers and warp collectives; the default arguments are the caller's place
#define TERSOR_EMULATOR_SITE int line = __builtin_LINE(), const char *file = __builtin_FILE()

inline void __syncthreads(TERSOR_EMULATOR_SITE) {
  tersor::emulator::block_barrier(tersor::emulator::Barrier::kSync, 0, {line, file});
}
inline int __syncthreads_count(int predicate, TERSOR_EMULATOR_SITE) {
  return tersor::emulator::block_barrier(tersor::emulator::Barrier::kCount, predicate,
                                         {line, file});
}
inline int __syncthreads_and(int predicate, TERSOR_EMULATOR_SITE) {
  return tersor::emulator::block_barrier(tersor::emulator::Barrier::kAnd, predicate, {line, file});
}
inline int __syncthreads_or(int predicate, TERSOR_EMULATOR_SITE) {
  return tersor::emulator::block_barrier(tersor::emulator::Barrier::kOr, predicate, {line, file});
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, TERSOR_EMULATOR_SITE) {
  tersor::emulator::warp_op(tersor::emulator::WarpOp::kSync, mask, 0, 0, {line, file});
}
inline unsigned __ballot_sync(unsigned mask, int predicate, TERSOR_EMULATOR_SITE) {
  return static_cast<unsigned>(tersor::emulator::warp_op(tersor::emulator::WarpOp::kBallot, mask,
                                                         predicate != 0, 0, {line, file}));
}
inline int __any_sync(unsigned mask, int predicate, TERSOR_EMULATOR_SITE) {
  return static_cast<int>(tersor::emulator::warp_op(tersor::emulator::WarpOp::kAny, mask,
                                                    predicate != 0, 0, {line, file}));
}
inline int __all_sync(unsigned mask, int predicate, TERSOR_EMULATOR_SITE) {
  return static_cast<int>(tersor::emulator::warp_op(tersor::emulator::WarpOp::kAll, mask,
                                                    predicate != 0, 0, {line, file}));
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, TERSOR_EMULATOR_SITE) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return static_cast<unsigned>(
      tersor::emulator::warp_op(tersor::emulator::WarpOp::kMatchAny, mask, bits, 0, {line, file}));
}
#define TERSOR_EMULATOR_REDUCE(name, op)                                                        \
  inline unsigned name(unsigned mask, unsigned value, TERSOR_EMULATOR_SITE) {                   \
    return static_cast<unsigned>(                                                               \
        tersor::emulator::warp_op(tersor::emulator::WarpOp::op, mask, value, 0, {line, file})); \
  }
TERSOR_EMULATOR_REDUCE(__reduce_add_sync, kAdd)
TERSOR_EMULATOR_REDUCE(__reduce_max_sync, kMax)
TERSOR_EMULATOR_REDUCE(__reduce_min_sync, kMin)
TERSOR_EMULATOR_REDUCE(__reduce_or_sync, kOr)
TERSOR_EMULATOR_REDUCE(__reduce_and_sync, kAnd)

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, TERSOR_EMULATOR_SITE) {
  const int first = static_cast<int>(tersor::emulator::lane_id()) & ~(width - 1);
  return tersor::emulator::shuffle(mask, value, first | (source & (width - 1)), {line, file});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance, int width = 32, TERSOR_EMULATOR_SITE) {
  const int lane = static_cast<int>(tersor::emulator::lane_id());
  const int source = lane ^ distance;
  const int end = (lane & ~(width - 1)) + width;
  return tersor::emulator::shuffle(mask, value, source < end ? source : lane, {line, file});
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, TERSOR_EMULATOR_SITE) {
  const int lane = static_cast<int>(tersor::emulator::lane_id());
  const int source = lane - static_cast<int>(delta);
  const int first = lane & ~(width - 1);
  return tersor::emulator::shuffle(mask, value, source < first ? lane : source, {line, file});
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, TERSOR_EMULATOR_SITE) {
  const int lane = static_cast<int>(tersor::emulator::lane_id());
  const int source = lane + static_cast<int>(delta);
  const int end = (lane & ~(width - 1)) + width;
  return tersor::emulator::shuffle(mask, value, source < end ? source : lane, {line, file});
}
inline void __nanosleep(unsigned) { tersor::emulator::yield(); }

// ---- integers and bits
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32);
}
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }

// ---- correctly rounded float operations (the file is compiled with -ffp-contract=off)
/// A GPU gives this NaN whatever NaN went in; x86 would hand one of them on.
inline float device_nan_or(float x) {
  return std::isnan(x) ? std::bit_cast<float>(std::uint32_t{0x7FFFFFFF}) : x;
}
inline float __fmul_rn(float a, float b) { return device_nan_or(a * b); }
inline float __fadd_rn(float a, float b) { return device_nan_or(a + b); }
inline float __fsub_rn(float a, float b) { return device_nan_or(a - b); }
inline float __fdiv_rn(float a, float b) { return device_nan_or(a / b); }
inline float __fmaf_rn(float a, float b, float c) { return device_nan_or(std::fma(a, b, c)); }
inline float __fsqrt_rn(float a) { return device_nan_or(std::sqrt(a)); }
/// As PTX's cvt.rni.s32.f32: saturates, NaN gives 0.
inline int __float2int_rn(float x) {
  if (x != x) return 0;
  const double rounded = std::nearbyint(static_cast<double>(x));
  if (rounded >= 2147483647.0) return 2147483647;
  return rounded <= -2147483648.0 ? -2147483647 - 1 : static_cast<int>(rounded);
}

// ---- integer atomics
#define TERSOR_EMULATOR_ATOMIC(name, T, result)                       \
  inline T name(T* at, T value) {                                     \
    return tersor::emulator::read_modify_write(                       \
        at, [value]([[maybe_unused]] T old) -> T { return result; }); \
  }
TERSOR_EMULATOR_ATOMIC(atomicAdd, unsigned, old + value)
TERSOR_EMULATOR_ATOMIC(atomicAdd, int,
                       static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
TERSOR_EMULATOR_ATOMIC(atomicAdd, unsigned long long, old + value)
TERSOR_EMULATOR_ATOMIC(atomicMax, unsigned, old > value ? old : value)
TERSOR_EMULATOR_ATOMIC(atomicMin, unsigned, old < value ? old : value)
TERSOR_EMULATOR_ATOMIC(atomicOr, unsigned, old | value)
TERSOR_EMULATOR_ATOMIC(atomicAnd, unsigned, old& value)
TERSOR_EMULATOR_ATOMIC(atomicExch, unsigned, value)
inline unsigned atomicCAS(unsigned* at, unsigned expected, unsigned value) {
  return tersor::emulator::read_modify_write(
      at, [expected, value](unsigned old) { return old == expected ? value : old; });
}
