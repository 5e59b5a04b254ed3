// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// Low-rank messages by one or more power iterations, warm-started (METHODS section 2).
///
/// Rounds 2i and 2i+1 of iteration i are all-reduces of float32: P = X Q as {samples, rank,
/// tokens}, then Q = X^T P as {samples, rank, hidden} with P orthonormalised by every rank. The
/// state keeps Q from message to message.
class PowerSgd final : public Codec {
 public:
  PowerSgd(std::int64_t rank, int iterations, bool is_mean, std::string canonical);

  std::string canonical() const override { return canonical_; }
  Properties properties() const override;
  int rounds() const override { return 2 * iterations_; }
  Exchange exchange(int) const override { return Exchange::kAllReduce; }
  DType reduce_dtype(int, DType) const override { return DType::kFloat32; }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape&, DType, const Context&, int,
                             const State*) const override {
    return 0;
  }
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void absorb(int round, std::span<const std::span<const std::byte>> received, const Shape& shape,
              DType dtype, State* state, const Context& context) const override;
  /// The payload of the last round, after the others were encoded and absorbed with `state`.
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;

 private:
  std::int64_t rank_of(const Shape& shape) const;
  std::size_t factor_bytes(const Shape& shape, int round) const;

  std::int64_t rank_;
  int iterations_;
  bool is_mean_;
  std::string canonical_;
};

/// Orthonormalises `columns` vectors of `rows` in place, one after the other; a vector that is zero
/// (1e-6 of the longest) becomes 0. float64 inside, in `scratch` (columns * rows elements).
void orthonormalise(std::span<float> vectors, std::int64_t columns, std::int64_t rows,
                    std::span<double> scratch);

}  // namespace tersor::compressors
