// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/leaf_codec.hpp"
#include "compressors/host/minifloat_kernels.hpp"
#include "compressors/wire/minifloat.hpp"
#include "compressors/wire/scopes.hpp"

namespace tersor::compressors {

/// The launchers of mx.cu (DeviceTable), for tensors with elements.
struct MxLaunchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
                 SmallFloat format, int emax, std::byte* payload, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 const ScopeGrid& grid, SmallFloat format, int emax, const DecodeTarget& target,
                 const Context& context);
};

/// Microscaling formats: blocks of 32 along hidden with a power-of-two scale (OCP MX 1.0).
class Mx final : public LeafCodec {
 public:
  /// `emax` is the exponent of the format's largest binade.
  Mx(SmallFloat format, int emax, std::string canonical);

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
  int width() const { return width_of(format_); }

  SmallFloat format_;
  int emax_;
};

}  // namespace tersor::compressors
