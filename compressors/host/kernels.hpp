// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/philox.hpp"
#include "compressors/host/input.hpp"

/// Loops over contiguous elements that several codecs share, compiled for scalar, AVX2 and AVX-512
/// and chosen at run time. Every build gives the same bits: one IEEE operation per step; a fused
/// multiply-add only where tests show that no code depends on it. Pointers may be unaligned; counts
/// are in elements.
namespace tersor::compressors::kernels {

inline constexpr std::uint32_t kInfinityBits = 0x7F800000u;

/// most = the largest magnitude of the finite elements, or as it was; returns whether all are
/// finite.
bool max_magnitude(Input x, std::int64_t count, float& most);
/// largest[i] = max(largest[i], |x[i + r*stride]| where finite), for r of `rows` rows; returns
/// whether all are finite.
bool max_magnitude_each(Input x, std::int64_t rows, std::int64_t stride, std::int64_t count,
                        float* largest);

/// Smallest and largest finite element, -0 counting as +0; `low` and `high` start at +Inf and -Inf.
/// Returns whether all are finite.
bool min_max(Input x, std::int64_t count, float& low, float& high);
void min_max_each(const float* x, std::int64_t count, float* low, float* high);

/// One block (at most 4,096 elements) of the fixed tree (METHODS section 1): the folded sum of |x|
/// or x*x, non-finite elements as 0.
float block_sum(const float* x, std::int64_t count, bool squares);
/// lanes[i] += |x[i]| or x[i]*x[i], non-finite as 0.
void lane_sum_each(const float* x, std::int64_t count, bool squares, float* lanes);

/// Codes of `width` <= 8 bits, one per byte, to the bit stream of METHODS section 1; writes
/// ceil(count*width/8) bytes. The first code starts at bit 0 of out[0].
void pack_bits(const std::uint8_t* codes, std::int64_t count, int width, std::byte* out);
/// The inverse; reads ceil(count*width/8) bytes.
void unpack_bits(const std::byte* in, std::int64_t count, int width, std::uint8_t* codes);

/// 16-bit or 32-bit draws of elements first .. first+count-1 of a stream.
void fill_draw16(const Stream& stream, std::uint64_t first, std::int64_t count, std::uint16_t* out);
void fill_draw32(const Stream& stream, std::uint64_t first, std::int64_t count, std::uint32_t* out);

/// float16 and bfloat16 to float32, exact; float32 to them: nearest even, finite values saturate,
/// NaN canonical.
void widen_float16(const std::uint16_t* in, std::int64_t count, float* out);
void widen_bfloat16(const std::uint16_t* in, std::int64_t count, float* out);
void round_float16(const float* in, std::int64_t count, std::uint16_t* out);
void round_bfloat16(const float* in, std::int64_t count, std::uint16_t* out);
/// out[i] += in[i], widened.
void add_float16(const std::uint16_t* in, std::int64_t count, float* out);
void add_bfloat16(const std::uint16_t* in, std::int64_t count, float* out);
/// A copy with canonical NaN: what widening and rounding give.
void canonical_float16(const std::uint16_t* in, std::int64_t count, std::uint16_t* out);
void canonical_bfloat16(const std::uint16_t* in, std::int64_t count, std::uint16_t* out);

/// keys[i] = magnitude order of Top-K: bits & 0x7FFFFFFF, every NaN 0x7FC00000.
void magnitude_keys(const float* x, std::int64_t count, std::uint32_t* keys);
/// out[i] += x[i]
void add(const float* x, std::int64_t count, float* out);

}  // namespace tersor::compressors::kernels
