// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/codec.hpp"
#include "compressors/device/tiles.cuh"

/// What encoding kernels read. With an element type In that is a tensor; with WithFeedback<In> it
/// is a tensor and a wrapper's feedback array (Codec::encode_with_feedback), which
/// the kernel that writes the payload rewrites:
///
///   x, feedback --load--> x +- feedback, rounded to In --codes--> payload
///                    \--> base ---- + decoded codes --store--> feedback
namespace tersor::compressors::device {

template <class In>
struct WithFeedback {};

template <class In>
struct FeedbackTensor {
  const typename In::Storage* in;
  float* feedback;
  bool is_error;

  __device__ __forceinline__ FeedbackTensor operator+(std::int64_t elements) const {
    return {in + elements, feedback + elements, is_error};
  }
};

/// Alignment says which of a tensor's addresses are multiples of 16 bytes; Base is what decoded
/// values are added to, of a lane's thread_tile.
template <class In>
struct Source {
  using Element = In;
  using Tensor = const typename In::Storage*;
  using Alignment = bool;
  struct Base {};
  static constexpr bool kHasFeedback = false;
  static constexpr int kEncodingBlocks = device::kEncodingBlocks;
  static constexpr bool kIsPaired = device::kIsPaired<In>;

  __device__ __forceinline__ static Alignment alignment(Tensor in) { return is_aligned_16(in); }
  __device__ __forceinline__ static float at(Tensor in, std::int64_t i) { return In::widen(in[i]); }
  __device__ __forceinline__ static void load(Tensor in, std::int64_t count, Alignment is_aligned,
                                              float* x, Base&) {
    load_thread_tile<In>(in, count, is_aligned, x);
  }
  /// The thread tile of paired lanes, whatever In has.
  __device__ __forceinline__ static void load_paired(Tensor in, std::int64_t count, float* x,
                                                     Base&) {
    load_thread_tile<In, true>(in, count, is_aligned_16(in), x);
  }
  __device__ __forceinline__ static void store(Tensor, std::int64_t, Alignment, const Base&) {}
};

template <class In>
struct Source<WithFeedback<In>> {
  using Element = In;
  using Tensor = FeedbackTensor<In>;
  struct Alignment {
    bool in;
    bool feedback;
  };
  struct Base {
    float values[8];
  };
  static constexpr bool kHasFeedback = true;
  static constexpr int kEncodingBlocks = 2;  // up to 128 registers
  static constexpr bool kIsPaired = true;

  __device__ __forceinline__ static Alignment alignment(const Tensor& tensor) {
    return {is_aligned_16(tensor.in), is_aligned_16(tensor.feedback)};
  }
  __device__ __forceinline__ static float at(const Tensor& tensor, std::int64_t i) {
    float base;
    return at(tensor, i, base);
  }
  __device__ __forceinline__ static float at(const Tensor& tensor, std::int64_t i, float& base) {
    base = tensor.feedback[i];
    return sent(tensor, In::widen(tensor.in[i]), base);
  }
  __device__ __forceinline__ static void load(const Tensor& tensor, std::int64_t count,
                                              Alignment is_aligned, float* x, Base& base) {
    load_thread_tile<In, true>(tensor.in, count, is_aligned.in, x);
    load_thread_tile<Float32>(tensor.feedback, count, is_aligned.feedback, base.values);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = sent(tensor, x[i], base.values[i]);
  }
  __device__ __forceinline__ static void load_paired(const Tensor& tensor, std::int64_t count,
                                                     float* x, Base& base) {
    load(tensor, count, alignment(tensor), x, base);
  }
  /// The lanes write the addresses that they read in load().
  __device__ __forceinline__ static void store(const Tensor& tensor, std::int64_t count,
                                               Alignment is_aligned, const Base& base) {
    store_thread_tile<Float32>(tensor.feedback, count, is_aligned.feedback, base.values);
  }
  /// The same of base + decoded, where most of that is +0: a result is written where it changes
  /// (+0 changes -0).
  __device__ __forceinline__ static void store_sum(const Tensor& tensor, std::int64_t count,
                                                   Alignment is_aligned, Base& base,
                                                   const float* decoded) {
    const unsigned first = 8 * thread_tile_of_lane<true>(lane_of_thread());
    __syncwarp();  // other lanes have read what this one writes
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float sum = __fadd_rn(base.values[i], decoded[i]);
      if (!tensor.is_error && bits_of(sum) != bits_of(base.values[i]))
        tensor.feedback[first + i] = sum;
      base.values[i] = sum;
    }
    if (tensor.is_error) store(tensor, count, is_aligned, base);
  }

 private:
  /// What is encoded of x and of its feedback, which becomes its base. An error of zero is +0
  /// (float_kernels.cu).
  __device__ __forceinline__ static float sent(const Tensor& tensor, float x, float& base) {
    const float feedback = finite_or_zero(base);
    const float sum = __fadd_rn(x, tensor.is_error ? __fsub_rn(0.0f, feedback) : -feedback);
    base = tensor.is_error ? -sum : feedback;
    return In::widen(In::round(sum));
  }
};

/// Calls run(T{}, tensor) with what `in` and `feedback` are to the kernels.
template <class Run>
void with_source(const TensorView& in, const FeedbackArray& feedback, Run run) {
  with_type(in.dtype, [&]<class In>(In) {
    const auto* data = static_cast<const typename In::Storage*>(in.data);
    if (feedback.values == nullptr) return run(In{}, data);
    run(WithFeedback<In>{}, FeedbackTensor<In>{data, feedback.values,
                                               feedback.meaning == FeedbackArray::kNegativeError});
  });
}

}  // namespace tersor::compressors::device
