// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// The launchers of hadamard.cu (DeviceTable). Pointers are device memory; `signs` is the stream of
/// the signs, `block` the spec's.
struct HadamardLaunchers {
  /// out = the transformed message, NaN canonical; with `kept` that of what encode_with_kept sends,
  /// which leaves `kept` to turn_back_kept.
  void (*turn)(const TensorView& in, const KeptArray& kept, std::int64_t block, const Stream& signs,
               float* out, void* stream);
  /// target = (target +) the message of `turned`, which is lost where block is above 4,096.
  void (*turn_back)(float* turned, const Shape& shape, std::int64_t block, const Stream& signs,
                    const DecodeTarget& target, void* stream);
  /// `kept` = what encode_with_kept leaves where `turned` is what was sent.
  void (*turn_back_kept)(float* turned, const TensorView& in, const KeptArray& kept,
                         std::int64_t block, const Stream& signs, void* stream);
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
  std::size_t encode_with_kept(const TensorView& in, const KeptArray& kept,
                               std::span<std::byte> out, const Context& context) const override;
  std::size_t kept_workspace_bytes(const Shape&, DType, const Context&) const override { return 0; }
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
  void turn(const TensorView& in, std::span<const float> signs, float* out, int threads) const;
  void turn_back_row(const float* x, std::int64_t hidden, const float* signs, float* out) const;
  void add_row(const float* x, std::int64_t hidden, const float* signs, float* work,
               float* out) const;
  void turn_back(const float* x, const Shape& shape, std::span<const float> signs, float* out,
                 int threads) const;
  const float* values_of(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         const State* state, const Context& context) const;
  void combine_values(std::span<const std::span<const std::byte>> received, const Shape& shape,
                      std::span<float> out, const Context& context) const;

  std::int64_t block_;
};

}  // namespace tersor::compressors
