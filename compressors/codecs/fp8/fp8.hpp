// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/leaf_codec.hpp"
#include "compressors/host/minifloat_kernels.hpp"
#include "compressors/wire/minifloat.hpp"
#include "compressors/wire/scopes.hpp"

namespace tersor::compressors {

/// The launchers of fp8.cu (DeviceTable), for tensors with elements.
struct Fp8Launchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
                 SmallFloat format, std::byte* payload, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 const ScopeGrid& grid, SmallFloat format, const DecodeTarget& target,
                 const Context& context);
};

/// 8-bit floats with a float32 scale per scope that puts the largest magnitude at the format's
/// limit (METHODS section 2).
class Fp8 final : public LeafCodec {
 public:
  /// `format` is kE4M3 or kE5M2.
  Fp8(SmallFloat format, Scope scope, std::int64_t group, std::string canonical);

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
  ScopeGrid grid(const Shape& shape) const { return {shape, scope_, group_}; }

  SmallFloat format_;
  Scope scope_;
  std::int64_t group_;
};

}  // namespace tersor::compressors
