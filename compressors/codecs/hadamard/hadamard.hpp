// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// The launchers of hadamard.cu (DeviceTable). Pointers are device memory; `signs` is the stream of
/// the signs, `block` the spec's.
struct HadamardLaunchers {
  /// out = the transformed message, NaN canonical; with `feedback` that of what
  /// encode_with_feedback sends, which leaves `feedback` to inverse_rotate_feedback.
  void (*rotate)(const TensorView& in, const FeedbackArray& feedback, std::int64_t block,
                 const Stream& signs, float* out, void* stream);
  /// target = (target +) the message of `rotated`, which is lost where block is above 4,096.
  void (*inverse_rotate)(float* rotated, const Shape& shape, std::int64_t block,
                         const Stream& signs, const DecodeTarget& target, void* stream);
  /// `feedback` = what encode_with_feedback leaves where `rotated` is what was sent.
  void (*inverse_rotate_feedback)(float* rotated, const TensorView& in,
                                  const FeedbackArray& feedback, std::int64_t block,
                                  const Stream& signs, void* stream);
};

/// Random signs and an orthonormal Walsh-Hadamard transform per block along hidden before the inner
/// codec, and back after it (METHODS section 2). The inner codec sees float32.
class Hadamard final : public Wrapper {
 public:
  /// `block` is a power of two.
  Hadamard(std::shared_ptr<const Codec> inner, std::int64_t block, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  std::size_t encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                   std::span<std::byte> out, const Context& context) const override;
  std::size_t feedback_workspace_bytes(const Shape&, DType, const Context&) const override {
    return 0;
  }
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state, const Context& context) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  DType inner_dtype(DType) const override { return DType::kFloat32; }
  template <class Visit>
  void for_each_size(std::int64_t hidden, Visit&& visit) const;
  void rotate(const TensorView& in, std::span<const float> signs, float* out, int threads) const;
  void inverse_rotate_row(const float* x, std::int64_t hidden, const float* signs,
                          float* out) const;
  void add_row(const float* x, std::int64_t hidden, const float* signs, float* work,
               float* out) const;
  void inverse_rotate(const float* x, const Shape& shape, std::span<const float> signs, float* out,
                      int threads) const;
  const float* values_of(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         const State* state, const Context& context) const;
  void combine_values(std::span<const std::span<const std::byte>> received, const Shape& shape,
                      std::span<float> out, const Context& context) const;

  std::int64_t block_;
};

}  // namespace tersor::compressors
