// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/philox.hpp"
#include "compressors/wire/indices.hpp"
#include "compressors/wire/scopes.hpp"
#include "compressors/wire/sparse_layout.hpp"

/// What the kernels of select.cuh and sparse.cuh are told of a message, and the workspace that they
/// take: host code, so that codecs can size it without CUDA.
namespace tersor::compressors {

/// Arrays laid out one after the other in a workspace on a device. Made without memory it only
/// counts: the same calls then give the bytes that the workspace needs.
class DeviceWorkspace {
 public:
  DeviceWorkspace() = default;
  DeviceWorkspace(std::span<std::byte> memory, std::string_view codec)
      : memory_(memory), codec_(codec), is_counting_(false) {
    const auto base = reinterpret_cast<std::uintptr_t>(memory.data());
    skipped_ = (kAlignment - base % kAlignment) % kAlignment;
  }

  /// Null where it only counts. Throws Error(kInternal) where the workspace is too small.
  template <class T>
  T* take(std::int64_t count) {
    const std::size_t at = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
    bytes_ = at + static_cast<std::size_t>(count) * sizeof(T);
    if (is_counting_ || count == 0) return nullptr;
    TERSOR_CHECK(skipped_ + bytes_ <= memory_.size(),
                 std::string(codec_) + ": the workspace is smaller than workspace_bytes()");
    return reinterpret_cast<T*>(memory_.data() + skipped_ + at);
  }
  /// With room to align the first array.
  std::size_t bytes() const { return bytes_ == 0 ? 0 : bytes_ + kAlignment; }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::span<std::byte> memory_{};
  std::string_view codec_{};
  std::size_t bytes_ = 0;
  std::size_t skipped_ = 0;
  bool is_counting_ = true;
};

inline std::int64_t blocks_for(std::int64_t count, std::int64_t per_block) {
  return (count + per_block - 1) / per_block;
}

/// One scope of a sparse message: its elements, counted as if scopes lay one after the other, and
/// its parts of the payload.
struct SparseScope {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t selected = 0;
  std::int64_t first_entry = 0;
  std::int64_t index_at = 0;  ///< byte of the payload
  int low_bits = 0;           ///< of Elias-Fano
  std::int64_t first_thread_tile =
      0;  ///< of those of all scopes: eight elements each, the last fewer
};

/// ScopeGrid and SparseLayout as plain values, for kernels.
struct SparseGrid {
  std::int64_t scopes = 0;
  SparseScope full;           ///< length, selected, low_bits; index_at = bytes of a scope's indices
  SparseScope tail;           ///< a row's last, short group; length 0: there is none
  std::uint32_t per_row = 1;  ///< scopes of a row, where there are tails
  std::int64_t index_bytes = 0;
  std::int64_t entries = 0;
  std::int64_t elements = 0;
  std::int64_t rows = 0;  ///< of a tensor with channel scopes
  std::int64_t hidden = 0;
  IndexCoding coding = IndexCoding::kU32;
  bool is_columns = false;  ///< channel scopes

  SparseGrid() = default;
  /// One scope of a payload that has values only.
  SparseGrid(std::int64_t length, std::int64_t selected)
      : scopes(1), full{0, length, selected, 0, 0, 0}, entries(selected), elements(length) {}
  SparseGrid(const ScopeGrid& grid, const SparseLayout& layout, const Shape& shape) {
    scopes = grid.count();
    elements = shape.elements();
    rows = shape.rows();
    hidden = shape.hidden;
    coding = layout.coding();
    is_columns = !grid.is_contiguous();
    index_bytes = static_cast<std::int64_t>(layout.index_bytes());
    entries = layout.selected_of_all();
    full = sized(layout, grid.longest());
    const std::int64_t rest = grid.scope() == Scope::kGroup ? shape.hidden % grid.group() : 0;
    if (rest == 0) return;
    tail = sized(layout, rest);
    per_row = static_cast<std::uint32_t>((shape.hidden - 1) / grid.group() + 1);
  }

  TERSOR_HOST_DEVICE std::int64_t row_elements() const {
    return std::int64_t{per_row - 1} * full.length + tail.length;
  }
  TERSOR_HOST_DEVICE SparseScope scope(std::int64_t s) const {
    if (tail.length == 0) {
      SparseScope result = full;
      result.begin = s * full.length;
      result.first_entry = s * full.selected;
      result.index_at = s * full.index_at;
      result.first_thread_tile = s * thread_tiles(full);
      return result;
    }
    const std::int64_t row = static_cast<std::uint32_t>(s) / per_row;
    const std::int64_t group = s - row * per_row;
    SparseScope result = group == per_row - 1 ? tail : full;
    const std::int64_t before = std::int64_t{per_row} - 1;
    result.begin = row * row_elements() + group * full.length;
    result.first_entry = row * (before * full.selected + tail.selected) + group * full.selected;
    result.index_at = row * (before * full.index_at + tail.index_at) + group * full.index_at;
    result.first_thread_tile =
        row * (before * thread_tiles(full) + thread_tiles(tail)) + group * thread_tiles(full);
    return result;
  }
  TERSOR_HOST_DEVICE static std::int64_t thread_tiles(const SparseScope& scope) {
    return (scope.length + 7) / 8;
  }
  /// The scope that holds this element.
  TERSOR_HOST_DEVICE std::int64_t scope_of(std::int64_t element) const {
    if (tail.length == 0) return element / full.length;
    const std::int64_t row = element / row_elements();
    return row * std::int64_t{per_row} + (element - row * row_elements()) / full.length;
  }
  TERSOR_HOST_DEVICE bool has_bits() const {
    return coding == IndexCoding::kBitmap || coding == IndexCoding::kEliasFano;
  }
  /// Bits of the vector that flags a scope's positions (bitmap, or the high bits of Elias-Fano).
  TERSOR_HOST_DEVICE std::int64_t flags(const SparseScope& scope) const {
    return coding == IndexCoding::kBitmap ? scope.length
                                          : scope.selected + ((scope.length - 1) >> scope.low_bits);
  }
  /// Bytes before those flags.
  TERSOR_HOST_DEVICE std::int64_t low_bytes(const SparseScope& scope) const {
    return coding == IndexCoding::kBitmap ? 0 : (scope.selected * scope.low_bits + 7) / 8;
  }

 private:
  static SparseScope sized(const SparseLayout& layout, std::int64_t length) {
    SparseScope scope;
    scope.length = length;
    scope.selected = layout.selected(length);
    scope.index_at = static_cast<std::int64_t>(layout.index_bytes_of(length));
    scope.low_bits = std::bit_width(static_cast<std::uint64_t>(length / scope.selected)) - 1;
    return scope;
  }
};

/// Numbers of scopes, and positions and counts inside one, are 32-bit on a device.
inline void expect_fits(const SparseGrid& grid, std::string_view codec) {
  for (const std::int64_t count : {grid.full.length, grid.scopes})
    if (count > 0xFFFFFFFF)
      throw Error(ErrorKind::kUnsupported, std::string(codec) +
                                               ": more than 2^32 - 1 scopes, or elements of one (" +
                                               std::to_string(count) + "), on a device");
}

// ---- selection of a scope that does not fit the registers of a block: several passes over tiles

inline constexpr std::int64_t kSelectTile = 1024;  ///< elements that a warp takes
inline constexpr std::int64_t kLongestInRegisters =
    16384;  ///< of a scope that one block selects from
inline constexpr std::int64_t kSelectSamples = 4096;
inline constexpr std::int64_t kSelectBins = 2048;

/// What the passes know of one scope.
struct SelectState {
  std::uint32_t low = 0;  ///< keys from here to `high` are candidates
  std::uint32_t high = 0;
  std::uint32_t above = 0;  ///< keys above `high`
  std::uint32_t found = 0;  ///< candidates, also those for which there was no room
  std::uint32_t key = 0;    ///< the digits that are known, in the end the smallest chosen key
  std::uint32_t left = 0;   ///< rank of the last chosen key among those that have these digits
  std::uint32_t ties = 0;   ///< keys equal to `key`
};

struct SelectPlan {
  std::int64_t scopes = 0;
  std::int64_t tiles = 0;            ///< of a scope
  std::int64_t tiles_per_block = 8;  ///< in the passes that count; a multiple of 8
  std::uint32_t blocks = 0;          ///< of a scope in those passes
  std::uint32_t write_blocks = 0;    ///< of a scope where each warp has one tile
  std::int64_t room = 0;             ///< candidates of a scope
  SelectState* states = nullptr;
  std::uint32_t* histogram = nullptr;
  std::uint32_t* candidates = nullptr;
  /// Per tile: where its candidates are, then keys above the threshold << 32 | equal to it.
  std::uint64_t* counts = nullptr;
};

/// A sixteenth of the scope holds what a sample leaves open in all but odd cases.
inline SelectPlan select_plan(std::int64_t scopes, std::int64_t longest,
                              DeviceWorkspace& workspace) {
  SelectPlan plan;
  plan.scopes = scopes;
  plan.tiles = blocks_for(longest, kSelectTile);
  plan.tiles_per_block = 8 * std::clamp<std::int64_t>(scopes * plan.tiles / 4096, 1, 16);
  plan.blocks = static_cast<std::uint32_t>(blocks_for(plan.tiles, plan.tiles_per_block));
  plan.write_blocks = static_cast<std::uint32_t>(blocks_for(plan.tiles, 8));
  plan.room = longest / 16 + 1024;
  plan.states = workspace.take<SelectState>(scopes);
  plan.histogram = workspace.take<std::uint32_t>(scopes * kSelectBins);
  plan.candidates = workspace.take<std::uint32_t>(scopes * plan.room);
  plan.counts = workspace.take<std::uint64_t>(scopes * plan.tiles);
  return plan;
}

/// Ranks in a sample of kSelectSamples keys that are about 4 standard deviations around the k-th of
/// `length`; above the size of the sample, or 0, where it has no such key.
struct SampleRanks {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
inline SampleRanks sample_ranks(std::int64_t length, std::int64_t selected) {
  const double expected = static_cast<double>(selected) / static_cast<double>(length) *
                          static_cast<double>(kSelectSamples);
  const double margin = 4 * std::sqrt(expected) + 8;
  return {static_cast<std::uint32_t>(expected + margin),
          static_cast<std::uint32_t>(std::max(0.0, expected - margin))};
}

/// The same for 32-bit draws, whose distribution is known: 6 standard deviations.
struct KeyBracket {
  std::uint32_t low = 0;
  std::uint32_t high = 0xFFFFFFFFu;
};
inline KeyBracket draw_bracket(std::int64_t length, std::int64_t selected) {
  const double margin = 6 * std::sqrt(static_cast<double>(selected)) + 8;
  const auto key_of = [&](double rank) {
    const double key = 0x1p32 * (1 - rank / static_cast<double>(length));
    return static_cast<std::uint32_t>(std::clamp(key, 0.0, 0x1p32 - 1));
  };
  return {key_of(static_cast<double>(selected) + margin),
          key_of(static_cast<double>(selected) - margin)};
}

// ---- decoding

inline constexpr std::int64_t kFlagsChunk = 1024;  ///< flags whose set bits are counted together
inline constexpr std::int64_t kMostPayloads = 8;   ///< of one launch (tiles.cuh checks it)

/// Flags of a scope in chunks.
inline std::int64_t flag_chunks(const SparseGrid& grid) {
  return grid.has_bits() ? blocks_for(grid.flags(grid.full), kFlagsChunk) : 0;
}
/// Set bits before each chunk, per payload and scope; null where a scope has one chunk.
inline std::uint64_t* take_flag_ranks(const SparseGrid& grid, DeviceWorkspace& workspace) {
  const std::int64_t chunks = flag_chunks(grid);
  return chunks <= 1 ? nullptr
                     : workspace.take<std::uint64_t>(kMostPayloads * grid.scopes * chunks);
}

}  // namespace tersor::compressors
