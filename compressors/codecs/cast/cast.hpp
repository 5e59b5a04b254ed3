// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/summing_codec.hpp"

namespace tersor::compressors {

/// The launchers of cast.cu (DeviceTable). Pointers are device memory, `stream` a cudaStream_t;
/// launches only, no synchronisation. `format` is kBFloat16 or kFloat16.
struct CastLaunchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, DType format, std::byte* out,
                 void* stream);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, DType format, std::int64_t n,
                 const DecodeTarget& target, void* stream);
};

/// Rounds to bfloat16 or float16: nearest even, finite values saturate.
class Cast final : public SummingCodec {
 public:
  /// `format` is kBFloat16 or kFloat16.
  Cast(DType format, std::string canonical);

  std::string canonical() const override { return canonical_; }
  bool supports(Device device) const override;
  Properties properties() const override;
  Exchange exchange(int) const override { return Exchange::kAllReduce; }
  DType reduce_dtype(int, DType) const override { return format_; }
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

 protected:
  void sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                    DType dtype, bool is_accumulated, float* out,
                    const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  DType format_;
  std::string canonical_;
};

}  // namespace tersor::compressors
