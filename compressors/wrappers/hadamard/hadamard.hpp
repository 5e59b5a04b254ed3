// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/wrapper.hpp"

namespace tersor::compressors {

/// Random signs and an orthonormal Walsh-Hadamard transform per block along hidden before the inner
/// codec, and back after it (METHODS section 2). The inner codec sees float32.
class Hadamard final : public Wrapper {
 public:
  /// `block` is a power of two.
  Hadamard(std::shared_ptr<const Codec> inner, std::int64_t block, std::string canonical);

  Properties properties() const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;

 private:
  DType inner_dtype(DType) const override { return DType::kFloat32; }
  template <class Visit>
  void for_each_block(std::int64_t hidden, Visit&& visit) const;
  void turn_back(std::span<float> out, const Shape& shape, std::span<const float> signs) const;

  std::int64_t block_;
};

}  // namespace tersor::compressors
