// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// A learned bottleneck of rank `dim`: Z = X E per rank, out = (sum of Z) D. The weights live in
/// the workload, which also differentiates (learned()); encode and decode here use the initial
/// weights.
class Autoencoder final : public Codec {
 public:
  Autoencoder(std::int64_t dim, bool is_per_rank, std::string canonical);

  std::string canonical() const override { return canonical_; }
  Properties properties() const override;
  Exchange exchange(int) const override { return Exchange::kAllReduce; }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape&, DType, const Context&, int,
                             const State*) const override {
    return 0;
  }
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::optional<LearnedBottleneck> learned() const override {
    return LearnedBottleneck{dim_, is_per_rank_};
  }
  /// Of the whole group: an encoder per rank (tied: one) and one decoder.
  std::int64_t added_parameters(const Shape& shape, std::uint32_t ranks) const override;
  /// Of one rank and message, forward: both products.
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;

 private:
  /// Throws Error(kUnsupported) where weights or payload have more values than any machine holds.
  void expect_countable(const Shape& shape) const;

  std::int64_t dim_;
  bool is_per_rank_;
  std::string canonical_;
};

/// Initial weights {rows, columns}, row-major: Xavier uniform, element i = (draw_i/2^31 - 1) *
/// sqrt(6/(rows + columns)) with draw_i the 32-bit draw of the init stream of `name` (METHODS
/// section 1, "RNG"), in binary64 and then rounded to float32.
void xavier_weights(std::uint64_t seed, std::string_view name, std::int64_t rows,
                    std::int64_t columns, std::span<float> out);

}  // namespace tersor::compressors
