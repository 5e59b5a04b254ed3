// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// The launchers of float_kernels.cu: one pass over the elements each, of device memory, on
/// `stream` (a cudaStream_t). n may be 0.
struct FloatLaunchers {
  /// target = (target +) the arrays of n values of `dtype` (at any address), added in their order
  /// in float32 and rounded once to the target's dtype; one launch for up to eight.
  void (*add)(std::span<const std::span<const std::byte>> arrays, DType dtype, std::int64_t n,
              const DecodeTarget& target, void* stream);
  /// `rows` rows of `width` bytes, from_pitch and to_pitch bytes apart.
  void (*copy_rows)(const std::byte* from, std::size_t from_pitch, std::byte* to,
                    std::size_t to_pitch, std::size_t width, std::int64_t rows, void* stream);
  /// Before an inner codec that rewrites no state itself: rounded = what encode_with_feedback
  /// sends, in x's dtype, and `feedback` what decoded values are added to.
  void (*split_feedback)(const TensorView& x, const FeedbackArray& feedback, void* rounded,
                         void* stream);
  /// target = (target +) up to eight arrays of n values, as they are, added in their order and
  /// rounded once; then their non-finite elements become 0.
  void (*publish_feedback)(std::span<float* const> feedback, std::int64_t n,
                           const DecodeTarget& target, void* stream);
  /// stored = n values of `dtype` at `from`, as float32 or float16 (`to`); non-finite ones as 0.
  void (*keep)(const std::byte* from, DType dtype, std::int64_t n, DType to, void* stored,
               void* stream);
  /// out = (out +) a message {rows, hidden} whose first channels are the rows of `part` (`width`
  /// wide) and the others those of `local` (0 where it is null), both in their dtypes.
  void (*join_channels)(const float* part, std::int64_t width, const TensorView& local,
                        const Shape& shape, const DecodeTarget& target, void* stream);
};

/// Whether this build has them.
bool has_float_launchers();
/// Throws Error(kUnsupported) where not.
const FloatLaunchers& float_launchers();

/// target = (target +) values, on a device.
void add_on_device(std::span<const float> values, const DecodeTarget& target,
                   const Context& context);

}  // namespace tersor::compressors
