// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/select.cuh"

/// Bitmaps and Elias-Fano indices from positions, and channels transposed into rows.
namespace tersor::compressors::device {

// ---- index codings from positions

/// Writes bitmaps or Elias-Fano indices from the positions of all entries: a warp takes 1,024 bits
/// of a scope's low fields or of its flags.
template <IndexCoding kCoding>
__global__ void __launch_bounds__(kThreads)
    pack_positions(const __grid_constant__ SparseGrid grid, const std::uint32_t* positions,
                   std::int64_t low_chunks, std::int64_t chunks, std::byte* payload) {
  TERSOR_SHARED_ARRAY(std::uint32_t, words, kThreads);
  const unsigned lane = lane_of_thread();
  const std::int64_t number = std::int64_t{blockIdx.x} * kWarps + warp_of_thread();
  const std::int64_t s = number / chunks;
  if (s >= grid.scopes) return;
  const std::int64_t chunk = number - s * chunks;
  const SparseScope scope = grid.scope(s);
  const std::uint32_t* const own = positions + scope.first_entry;
  std::byte* to = payload + scope.index_at;
  std::int64_t bytes = grid.low_bytes(scope);
  std::int64_t first = chunk * kFlagsChunk;
  std::uint32_t word = 0;
  if (chunk < low_chunks) {
    const std::int64_t begin = first + 32 * lane;
    const int width = scope.low_bits;
    if (width > 0) {
      std::int64_t j = begin / width;
      for (std::int64_t at = j * width; at < begin + 32 && j < scope.selected; at += width, ++j) {
        const std::uint32_t field = own[j] & ((1u << width) - 1u);
        word |= at < begin ? field >> (begin - at) : field << (at - begin);
      }
    }
  } else {
    const std::int64_t flags = grid.flags(scope);
    to += bytes;
    bytes = (flags + 7) / 8;
    first -= low_chunks * kFlagsChunk;
    const auto flag_of = [&](std::int64_t j) {
      return kCoding == IndexCoding::kBitmap ? std::int64_t{own[j]}
                                             : std::int64_t{own[j] >> scope.low_bits} + j;
    };
    std::uint32_t* const mine = words + warp_of_thread() * 32;
    mine[lane] = 0;
    __syncwarp();
    std::int64_t j = 0;  // the first entry whose flag is in the chunk
    for (std::int64_t end = scope.selected; j < end;) {
      const std::int64_t middle = j + (end - j) / 2;
      if (flag_of(middle) < first)
        j = middle + 1;
      else
        end = middle;
    }
    for (j += lane; j < scope.selected; j += 32) {
      const std::int64_t flag = flag_of(j) - first;
      if (flag >= kFlagsChunk) break;
      atomicOr(&mine[flag / 32], 1u << (flag % 32));
    }
    __syncwarp();
    word = mine[lane];
  }
  const std::int64_t at = first / 8 + 4 * lane;
  if (at + 4 <= bytes) return store_bytes(to + at, word);
  for (int b = 0; b < 4; ++b)
    if (at + b < bytes) to[at + b] = static_cast<std::byte>(word >> 8 * b);
}

inline void launch_pack(const SparseGrid& grid, const std::uint32_t* positions, std::byte* payload,
                        const char* codec, void* stream) {
  const std::int64_t low = blocks_for(8 * grid.low_bytes(grid.full), kFlagsChunk);
  const std::int64_t chunks = low + blocks_for(grid.flags(grid.full), kFlagsChunk);
  const unsigned blocks = grid_of(blocks_for(grid.scopes * chunks, kWarps), codec);
  if (grid.coding == IndexCoding::kBitmap)
    TERSOR_LAUNCH(pack_positions<IndexCoding::kBitmap>, blocks, kThreads, 0, stream, grid,
                  positions, low, chunks, payload);
  else
    TERSOR_LAUNCH(pack_positions<IndexCoding::kEliasFano>, blocks, kThreads, 0, stream, grid,
                  positions, low, chunks, payload);
}

// ---- channels

inline constexpr int kTransposed = 32;  ///< side of a square that a block transposes

/// to[column][row] = from(row * columns + column), by way of `square`, of kTransposed *
/// (kTransposed + 1) words.
template <class Word, class From>
__device__ __forceinline__ void transpose_square(std::int64_t rows, std::int64_t columns,
                                                 Word* square, Word* to, From from) {
  const std::int64_t across = (columns + kTransposed - 1) / kTransposed;
  const std::int64_t down = std::int64_t{blockIdx.x} / across;
  const std::int64_t row = down * kTransposed;
  const std::int64_t column = (std::int64_t{blockIdx.x} - down * across) * kTransposed;
  const unsigned lane = lane_of_thread();
  for (unsigned y = warp_of_thread(); y < kTransposed; y += kWarps)
    if (row + y < rows && column + lane < columns)
      square[y * (kTransposed + 1) + lane] = from((row + y) * columns + column + lane);
  __syncthreads();
  for (unsigned y = warp_of_thread(); y < kTransposed; y += kWarps)
    if (column + y < columns && row + lane < rows)
      to[(column + y) * rows + row + lane] = square[lane * (kTransposed + 1) + y];
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    transpose(const Word* from, std::int64_t rows, std::int64_t columns, Word* to) {
  TERSOR_SHARED_ARRAY(Word, square, kTransposed * (kTransposed + 1));
  transpose_square(rows, columns, square, to, [&](std::int64_t i) { return from[i]; });
}

}  // namespace tersor::compressors::device
