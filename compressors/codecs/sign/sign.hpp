// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/leaf_codec.hpp"
#include "compressors/wire/scopes.hpp"

namespace tersor::compressors {

/// The launchers of sign.cu (DeviceTable), for tensors with elements.
struct SignLaunchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
                 std::byte* payload, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 const ScopeGrid& grid, const DecodeTarget& target, const Context& context);
};

/// One bit per value and the mean magnitude per scope (METHODS section 2).
class Sign final : public LeafCodec {
 public:
  Sign(Scope scope, std::int64_t group, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
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
  ScopeGrid grid(const Shape& shape) const { return {shape, scope_, group_}; }

  Scope scope_;
  std::int64_t group_;
};

}  // namespace tersor::compressors
