// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/leaf_codec.hpp"
#include "compressors/wire/scopes.hpp"

namespace tersor::compressors {

/// The launchers of nvfp4.cu (DeviceTable), for tensors with elements.
struct NvFp4Launchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
                 std::byte* payload, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 const ScopeGrid& grid, const DecodeTarget& target, const Context& context);
};

/// NVFP4: blocks of 16 along hidden of 4-bit floats, an E4M3 scale each, and one float32 scale for
/// the tensor.
class NvFp4 final : public LeafCodec {
 public:
  explicit NvFp4(std::string canonical);

  bool supports(Device device) const override;
  Properties properties() const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                   std::span<std::byte> out, const Context& context) const override;
  std::size_t feedback_workspace_bytes(const Shape&, DType, const Context&) const override {
    return 0;
  }
  bool decodes_to_feedback() const override { return true; }

 private:
  Sizes sizes(const Shape& shape, DType dtype) const override;
  void write(const TensorView& in, std::byte* out, const Context& context) const override;
  void sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                    DType dtype, bool is_accumulated, float* out,
                    const Context& context) const override;
  void read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                      DType dtype, const DecodeTarget& target,
                      const Context& context) const override;
};

}  // namespace tersor::compressors
