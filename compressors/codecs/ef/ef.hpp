// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/workspace.hpp"
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// Error feedback: what one message lost is added to the next (METHODS section 2).
class ErrorFeedback final : public Wrapper {
 public:
  ErrorFeedback(std::shared_ptr<const Codec> inner, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
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
};

}  // namespace tersor::compressors
