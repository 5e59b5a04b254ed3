// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// Only the first channels are summed over the ranks, the rest stays local (METHODS section 2).
class Partial final : public Wrapper {
 public:
  Partial(std::shared_ptr<const Codec> inner, double ratio, std::string canonical);

  Properties properties() const override;
  std::int64_t summed_hidden(const Shape& shape) const override {
    return inner_shape(shape).hidden;
  }
  bool supports(Device device) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  /// A single message: the channels that stay local decode to 0.
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  /// The channels that stay local are those of context.local_input, or 0 where it is not set.
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  Shape inner_shape(const Shape& shape) const override;

  double ratio_;
};

}  // namespace tersor::compressors
