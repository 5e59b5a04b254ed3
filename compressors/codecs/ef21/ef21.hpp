// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// EF21: the difference to the last result is sent, both sides keep that result (METHODS section
/// 2). The state has the sender's g and, as far as they are used, a copy for every rank that is
/// received.
class Ef21 final : public Wrapper {
 public:
  Ef21(std::shared_ptr<const Codec> inner, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
  bool decodes_with_state() const override { return true; }
  Exchange exchange(int) const override { return Exchange::kGather; }
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
  void decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype, void* out,
                   State* state, const Context& context) const override;
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state, const Context& context) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;

 private:
  void receive_on_device(std::span<const std::span<const std::byte>> payloads, std::uint32_t rank,
                         const Shape& shape, DType dtype, const DecodeTarget& target, State* state,
                         const Context& context) const;
};

}  // namespace tersor::compressors
