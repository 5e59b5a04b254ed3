// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// Base of codecs without state whose sum of several payloads is made in one pass over the output:
/// the sum of a block stays in the first cache while the payloads are added to it, in their order.
/// Empty tensors and payloads of a wrong size never reach the derived class.
class SummingCodec : public Codec {
 public:
  /// Payloads of one pass; longer sums take several.
  static constexpr std::size_t kMostSummed = 8;

  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const final;
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state, const Context& context) const final;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;

 protected:
  /// out = or += the sum of at most kMostSummed decoded payloads, on the CPU; context.rank is the
  /// sender of the first one.
  virtual void sum_payloads(std::span<const std::span<const std::byte>> payloads,
                            const Shape& shape, DType dtype, bool is_accumulated, float* out,
                            const Context& context) const = 0;

 private:
  void decode_on_cpu(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                     DType dtype, bool is_accumulated, float* out, const Context& context) const;
};

}  // namespace tersor::compressors
