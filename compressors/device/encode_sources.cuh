// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/codec.hpp"
#include "compressors/device/octets.cuh"

/// What encoding kernels read. With an element type In that is a tensor; with WithKept<In> it is a
/// tensor and the array that a wrapper keeps beside it (Codec::encode_with_kept), which the kernel
/// that writes the payload rewrites:
///
///   x, kept --load--> x +- kept, rounded to In --codes--> payload
///                \--> base ---- + decoded codes --store--> kept
namespace tersor::compressors::device {

template <class In>
struct WithKept {};

template <class In>
struct KeptTensor {
  const typename In::Storage* in;
  float* kept;
  bool is_error;

  __device__ __forceinline__ KeptTensor operator+(std::int64_t elements) const {
    return {in + elements, kept + elements, is_error};
  }
};

/// Alignment says which of a tensor's addresses are multiples of 16 bytes; Base is what decoded
/// values are added to, of a lane's octet.
template <class In>
struct Source {
  using Element = In;
  using Tensor = const typename In::Storage*;
  using Alignment = bool;
  struct Base {};
  static constexpr bool kIsKept = false;
  static constexpr int kEncodingBlocks = device::kEncodingBlocks;
  static constexpr bool kIsPaired = device::kIsPaired<In>;

  __device__ __forceinline__ static Alignment alignment(Tensor in) { return is_aligned_16(in); }
  __device__ __forceinline__ static float at(Tensor in, std::int64_t i) { return In::widen(in[i]); }
  __device__ __forceinline__ static void load(Tensor in, std::int64_t count, Alignment is_aligned,
                                              float* x, Base&) {
    load_octet<In>(in, count, is_aligned, x);
  }
  /// The octet of paired lanes, whatever In has.
  __device__ __forceinline__ static void load_paired(Tensor in, std::int64_t count, float* x,
                                                     Base&) {
    load_octet<In, true>(in, count, is_aligned_16(in), x);
  }
  __device__ __forceinline__ static void store(Tensor, std::int64_t, Alignment, const Base&) {}
};

template <class In>
struct Source<WithKept<In>> {
  using Element = In;
  using Tensor = KeptTensor<In>;
  struct Alignment {
    bool in;
    bool kept;
  };
  struct Base {
    float values[8];
  };
  static constexpr bool kIsKept = true;
  static constexpr int kEncodingBlocks = 2;  // up to 128 registers
  static constexpr bool kIsPaired = true;

  __device__ __forceinline__ static Alignment alignment(const Tensor& tensor) {
    return {is_aligned_16(tensor.in), is_aligned_16(tensor.kept)};
  }
  __device__ __forceinline__ static float at(const Tensor& tensor, std::int64_t i) {
    float base;
    return at(tensor, i, base);
  }
  __device__ __forceinline__ static float at(const Tensor& tensor, std::int64_t i, float& base) {
    base = tensor.kept[i];
    return sent(tensor, In::widen(tensor.in[i]), base);
  }
  __device__ __forceinline__ static void load(const Tensor& tensor, std::int64_t count,
                                              Alignment is_aligned, float* x, Base& base) {
    load_octet<In, true>(tensor.in, count, is_aligned.in, x);
    load_octet<Float32>(tensor.kept, count, is_aligned.kept, base.values);
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
    store_octet<Float32>(tensor.kept, count, is_aligned.kept, base.values);
  }
  /// The same of base + decoded, where most of that is +0: a result is written where it changes
  /// (+0 changes -0).
  __device__ __forceinline__ static void store_sum(const Tensor& tensor, std::int64_t count,
                                                   Alignment is_aligned, Base& base,
                                                   const float* decoded) {
    const unsigned first = 8 * octet_of_lane<true>(lane_of_thread());
    __syncwarp();  // other lanes have read what this one writes
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float sum = __fadd_rn(base.values[i], decoded[i]);
      if (!tensor.is_error && bits_of(sum) != bits_of(base.values[i])) tensor.kept[first + i] = sum;
      base.values[i] = sum;
    }
    if (tensor.is_error) store(tensor, count, is_aligned, base);
  }

 private:
  /// What is encoded of x and of its kept value, which becomes its base. An error of zero is +0
  /// (float_kernels.cu).
  __device__ __forceinline__ static float sent(const Tensor& tensor, float x, float& base) {
    const float kept = finite_or_zero(base);
    const float sum = __fadd_rn(x, tensor.is_error ? __fsub_rn(0.0f, kept) : -kept);
    base = tensor.is_error ? -sum : kept;
    return In::widen(In::round(sum));
  }
};

/// Calls run(T{}, tensor) with what `in` and `kept` are to the kernels.
template <class Run>
void with_source(const TensorView& in, const KeptArray& kept, Run run) {
  with_type(in.dtype, [&]<class In>(In) {
    const auto* data = static_cast<const typename In::Storage*>(in.data);
    if (kept.values == nullptr) return run(In{}, data);
    run(WithKept<In>{},
        KeptTensor<In>{data, kept.values, kept.meaning == KeptArray::kNegativeError});
  });
}

}  // namespace tersor::compressors::device
