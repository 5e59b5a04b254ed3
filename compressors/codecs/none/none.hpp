// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// The launchers of none.cu (DeviceTable).
struct NoneLaunchers {
  void (*copy)(const void* from, std::size_t bytes, std::byte* to, void* stream);
  /// encode_with_feedback.
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, std::byte* out, void* stream);
};

/// The message itself: copies bits.
class None final : public Codec {
 public:
  std::string canonical() const override { return "none"; }
  bool supports(Device device) const override;
  Properties properties() const override;
  Exchange exchange(int) const override { return Exchange::kAllReduce; }
  bool sends_float32_as_is() const override { return true; }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape&, DType, const Context&, int,
                             const State*) const override {
    return 0;
  }
  std::size_t workspace_bytes(const Shape&, DType, const Context&) const override { return 0; }
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  std::size_t encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                   std::span<std::byte> out, const Context& context) const override;
  std::size_t feedback_workspace_bytes(const Shape&, DType, const Context&) const override {
    return 0;
  }
  bool decodes_to_feedback() const override { return true; }
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype, void* out,
                   State* state, const Context& context) const override;
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state, const Context& context) const override;

 protected:
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;
};

}  // namespace tersor::compressors
