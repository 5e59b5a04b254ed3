// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/tiles.cuh"

/// The orthonormal Walsh-Hadamard transform in natural order (`hadamard`, `srht`): strides 1, 2, 4,
/// .. with (a, b) -> (a + b, a - b), then one multiply. Every pair of a stride is one addition and
/// one subtraction, so the bits do not depend on who does it where:
///
///   strides 1, 2, 4          in a lane's thread tile
///   strides 8 .. 128         between lanes of a warp
///   strides 256 .. 2,048     in a block's shared memory, 16 values a thread ("piece")
///   strides 4,096 and above  in global memory, up to four strides a launch
namespace tersor::compressors::device {

constexpr int kPiece = 4096;
constexpr int kPieceThreadTiles = kPiece / 8 / kThreads;
static_assert(kPieceThreadTiles == 2);

/// The transforms along a row of `hidden` values: as many of `block` as fit, then falling powers of
/// two. Each begins at a multiple of its size, so the first bit in which a position differs from
/// `hidden` tells the size of its transform.
struct RowTransforms {
  std::uint32_t hidden = 0;
  std::uint32_t block = 1;              ///< a power of two
  bool are_thread_tiles_whole = false;  ///< every transform has 8 values or more

  __device__ __forceinline__ std::uint32_t size(std::uint32_t position) const {
    if (position >= hidden) return 1;
    const int lead = __clz(static_cast<int>(position ^ hidden));
    const std::uint32_t top = 0x80000000u >> lead;
    return top < block ? top : block;
  }
};

/// `hidden` values of one transform each, for rows that follow one another.
struct EqualTransforms {
  std::uint32_t block = 1;
  bool are_thread_tiles_whole = false;
  __device__ __forceinline__ std::uint32_t size(std::uint32_t) const { return block; }
};

/// float32(1/sqrt(size)): an even power of two shifts the exponent of 1, an odd one that of
/// 1/sqrt(2).
__device__ __forceinline__ float transform_factor(std::uint32_t size) {
  const int log2 = 31 - __clz(static_cast<int>(size));
  const float power = float_of(static_cast<std::uint32_t>(127 - log2 / 2) << 23);
  return log2 % 2 == 0 ? power : __fmul_rn(power, 0.70710678118654752440f);
}

/// Bit 31 of the four words, as bits 0 to 3.
__device__ __forceinline__ std::uint32_t top_bits(const Stream& stream, std::uint32_t block) {
  const auto words = stream.block(block);
  return words[0] >> 31 | (words[1] >> 31) << 1 | (words[2] >> 31) << 2 | (words[3] >> 31) << 3;
}

/// Flips the signs of eight values from `position`, a multiple of 8 (METHODS: -1 where bit 31 of
/// the 32-bit draw of the hidden position is set).
struct ThreadTileSigns {
  std::uint32_t bits = 0;

  __device__ __forceinline__ ThreadTileSigns(const Stream& stream, std::uint32_t position) {
    bits = top_bits(stream, position / 4) | top_bits(stream, position / 4 + 1) << 4;
  }
  __device__ __forceinline__ void flip(float* x) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = float_of(bits_of(x[i]) ^ (bits >> i) << 31);
  }
};

/// Strides 1 to 128 of a sub-tile: `x` is the lane's thread tile, at `position`. All lanes call it.
template <bool kPaired, class Transforms>
__device__ __forceinline__ void butterfly_thread_tile(float* x, std::uint32_t position,
                                                      const Transforms& transforms) {
#pragma unroll
  for (int stride = 1; stride < 8; stride *= 2) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if ((i & stride) != 0) continue;
      const bool is_pair = transforms.are_thread_tiles_whole ||
                           static_cast<std::uint32_t>(stride) < transforms.size(position + i);
      const float a = x[i];
      const float b = x[i + stride];
      x[i] = is_pair ? __fadd_rn(a, b) : a;
      x[i + stride] = is_pair ? __fsub_rn(a, b) : b;
    }
  }
  const std::uint32_t size = transforms.size(position);
#pragma unroll
  for (int bit = 0; bit < 5; ++bit) {
    if (8u << bit >= transforms.block) break;
    const bool is_pair = 8u << bit < size;
    const bool is_high = (position & 8u << bit) != 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float other = __shfl_xor_sync(kAllLanes, x[i], lane_distance<kPaired>(bit));
      const float rotated = is_high ? __fsub_rn(other, x[i]) : __fadd_rn(x[i], other);
      x[i] = is_pair ? rotated : x[i];
    }
  }
}

/// The one multiply.
template <class Transforms>
__device__ __forceinline__ void scale_thread_tile(float* x, std::uint32_t position,
                                                  const Transforms& transforms) {
  const float shared = transform_factor(transforms.size(position));
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float factor = transforms.are_thread_tiles_whole
                             ? shared
                             : transform_factor(transforms.size(position + i));
    x[i] = __fmul_rn(x[i], factor);
  }
}

/// Strides 256 to 2,048 of a piece that begins at `first`; synchronises the block before and after.
template <class Transforms>
__device__ __forceinline__ void butterfly_piece(float* values, std::uint32_t first,
                                                const Transforms& transforms) {
  __syncthreads();
  if (transforms.block <= kSubtile) return;
  float v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) v[k] = values[threadIdx.x + k * kSubtile];
#pragma unroll
  for (int stride = 1; stride < 16; stride *= 2) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      if ((k & stride) != 0) continue;
      if (static_cast<std::uint32_t>(stride * kSubtile) >=
          transforms.size(first + threadIdx.x + k * kSubtile))
        continue;
      const float a = v[k];
      const float b = v[k + stride];
      v[k] = __fadd_rn(a, b);
      v[k + stride] = __fsub_rn(a, b);
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) values[threadIdx.x + k * kSubtile] = v[k];
  __syncthreads();
}

/// Thread tile of shared memory, in 16-byte accesses.
__device__ __forceinline__ void put_thread_tile(float* values, const float* x) {
  auto* quads = reinterpret_cast<float4*>(values);
  store_vector(quads, take_quad(x));
  store_vector(quads + 1, take_quad(x + 4));
}
__device__ __forceinline__ void get_thread_tile(const float* values, float* x) {
  const auto* quads = reinterpret_cast<const float4*>(values);
  put_quad(load_vector(quads), x);
  put_quad(load_vector(quads + 1), x + 4);
}

/// Strides from `first_stride` (a multiple of kPiece), four at most, of rows of float32 in global
/// memory; `is_last` multiplies, and makes NaN canonical. Thread t of a group of 16 first_stride
/// values has every first_stride-th of them.
template <class Transforms>
__global__ void __launch_bounds__(kThreads)
    high_strides_kernel(float* rows, std::int64_t count, std::uint32_t width,
                        std::uint32_t first_stride, Transforms transforms, bool is_last) {
  const std::uint32_t blocks_of_group = first_stride / kThreads;
  const std::uint32_t groups = (width - 1) / 16 / first_stride + 1;
  const std::int64_t of_row = static_cast<std::int64_t>(groups) * blocks_of_group;
  const std::int64_t row = blockIdx.x / of_row;
  if (row >= count) return;
  const auto in_row = static_cast<std::uint32_t>(blockIdx.x - row * of_row);
  const std::uint64_t at =
      static_cast<std::uint64_t>(in_row / blocks_of_group) * 16 * first_stride +
      in_row % blocks_of_group * kThreads + threadIdx.x;
  float* values = rows + row * width;
  float v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const std::uint64_t position = at + static_cast<std::uint64_t>(k) * first_stride;
    v[k] = position < width ? values[position] : 0.0f;
  }
#pragma unroll
  for (int stride = 1; stride < 16; stride *= 2) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const std::uint64_t position = at + static_cast<std::uint64_t>(k) * first_stride;
      if ((k & stride) != 0 || position >= width) continue;
      if (static_cast<std::uint64_t>(stride) * first_stride >=
          transforms.size(static_cast<std::uint32_t>(position)))
        continue;
      const float a = v[k];
      const float b = v[k + stride];
      v[k] = __fadd_rn(a, b);
      v[k + stride] = __fsub_rn(a, b);
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const std::uint64_t position = at + static_cast<std::uint64_t>(k) * first_stride;
    if (position >= width) continue;
    const float factor = transform_factor(transforms.size(static_cast<std::uint32_t>(position)));
    values[position] = is_last ? Float32::round(__fmul_rn(v[k], factor)) : v[k];
  }
}

inline unsigned transform_grid(std::int64_t blocks, const char* codec) {
  if (blocks > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported,
                std::string(codec) + ": the message has more pieces than a CUDA grid has blocks");
  return static_cast<unsigned>(blocks);
}

/// All strides from kPiece on, and the multiply.
template <class Transforms>
void launch_high_strides(float* rows, std::int64_t count, std::uint32_t width,
                         const Transforms& transforms, const char* codec, void* stream) {
  for (std::uint64_t stride = kPiece; stride < transforms.block; stride *= 16) {
    const std::int64_t groups = static_cast<std::int64_t>((width - 1) / 16 / stride + 1);
    const std::int64_t blocks = count * groups * static_cast<std::int64_t>(stride / kThreads);
    TERSOR_LAUNCH(high_strides_kernel<Transforms>, transform_grid(blocks, codec), kThreads, 0,
                  stream, rows, count, width, static_cast<std::uint32_t>(stride), transforms,
                  stride * 16 >= transforms.block);
  }
}

}  // namespace tersor::compressors::device
