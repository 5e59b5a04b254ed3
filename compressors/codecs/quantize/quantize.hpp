// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compressors/base/summing_codec.hpp"
#include "compressors/wire/scopes.hpp"

namespace tersor::compressors {

struct QuantizeOptions {
  int bits = 8;
  Scope scope = Scope::kChannel;
  std::int64_t group = 128;
  bool is_rms = false;         ///< scale=rms
  bool is_stochastic = false;  ///< rounding=stochastic
  bool is_bian = false;        ///< variant=bian
};

/// The launchers of quantize.cu (DeviceTable), for tensors with elements.
struct QuantizeLaunchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
                 const QuantizeOptions& options, std::byte* payload, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 const ScopeGrid& grid, const QuantizeOptions& options, const DecodeTarget& target,
                 const Context& context);
};

/// Symmetric integers of 1 to 8 bits with one float16 scale per scope (METHODS section 2).
class Quantize final : public SummingCodec {
 public:
  Quantize(const QuantizeOptions& options, std::string canonical);

  std::string canonical() const override { return canonical_; }
  Properties properties() const override;
  bool supports(Device device) const override;
  Exchange exchange(int) const override { return Exchange::kGather; }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  std::size_t encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                   std::span<std::byte> out, const Context& context) const override;
  std::size_t feedback_workspace_bytes(const Shape&, DType, const Context&) const override {
    return 0;
  }
  bool decodes_to_feedback() const override { return true; }

 protected:
  void sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                    DType dtype, bool is_accumulated, float* out,
                    const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  ScopeGrid grid(const Shape& shape) const { return {shape, options_.scope, options_.group}; }
  /// Writes the scales and sets what elements are divided by; returns QuantizeLoop::is_bounded.
  bool write_scales(const TensorView& in, const ScopeGrid& grid, std::byte* out,
                    std::span<float> divisor, const Context& context) const;
  /// Writes the scale of one scope as float16 and returns what its elements are divided by.
  float write_scale(float scale, std::byte* out) const;

  QuantizeOptions options_;
  std::string canonical_;
};

}  // namespace tersor::compressors
