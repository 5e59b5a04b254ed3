// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "compressors/api/codec.hpp"
#include "compressors/wire/scopes.hpp"
#include "compressors/wire/sparse_layout.hpp"

/// Payloads of positions and values: per tensor all indices first, scope by scope, then all values
/// in the input dtype.
namespace tersor::compressors {

/// Writes the values at positions `local` of a scope in the tensor's dtype, NaN as the canonical
/// one; returns the end of what was written.
std::byte* send_values(const TensorView& in, const ScopeSlice& slice,
                       std::span<const std::uint32_t> local, std::byte* out);
/// The same for the first `count` positions; the others are those of the next call, whose values
/// are fetched into the cache.
std::byte* send_first_values(const TensorView& in, const ScopeSlice& slice,
                             std::span<const std::uint32_t> local, std::int64_t count,
                             std::byte* out);

/// How sparse values are written to a dense tensor.
enum class ScatterMode : std::uint8_t {
  kAssign,      ///< the values, and zeros everywhere else
  kAdd,         ///< adds the values, and +0 everywhere else, which makes +0 of -0
  kAddSelected  ///< adds the values; all other elements stay as they are
};

/// Elements of scratch that the functions below take for indices.
std::int64_t sparse_index_elements(const SparseLayout& layout, const ScopeGrid& grid,
                                   const Shape& shape, std::int64_t payloads, int threads);
/// Decodes into a dense tensor. Throws Error(kPayload).
void decode_sparse(std::span<const std::byte> payload, const SparseLayout& layout,
                   const ScopeGrid& grid, DType dtype, ScatterMode mode,
                   std::span<std::uint32_t> index, std::span<float> out, int threads,
                   std::string_view codec);
/// The sum of several payloads, in their order: as decoding each one to a dense tensor and adding.
void combine_sparse(std::span<const std::span<const std::byte>> received,
                    const SparseLayout& layout, const ScopeGrid& grid, DType dtype,
                    std::span<std::uint32_t> index, std::span<float> out, int threads,
                    std::string_view codec);

/// Whether one of count values of `dtype` is -0. Only then does it matter for a sum that positions
/// which send nothing add +0: x + 0 is x for every x but -0.
bool has_negative_zero(const std::byte* values, DType dtype, std::int64_t count);
/// Adds values at ascending positions of `to`, and +0 to every other element from `finished` up to
/// the last one, behind which `finished` is then. Changes `values`.
void add_piece(std::span<const std::uint32_t> at, std::span<float> values, float* to,
               float*& finished);
/// out[i] += 0: -0 becomes +0.
void add_zero(std::span<float> out);

/// Puts values into a stretch of a dense tensor, piece by piece in ascending order.
class Scatter {
 public:
  Scatter(ScatterMode mode, float* begin) : mode_(mode), finished_(begin) {}
  /// Values at the positions `at` (not empty) of `to`; changes `values`.
  void piece(float* to, std::span<const std::uint32_t> at, std::span<float> values);
  void finish(float* end);

 private:
  ScatterMode mode_;
  float* finished_;  // everything before it is done
};

}  // namespace tersor::compressors
