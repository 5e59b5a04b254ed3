// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compressors/base/summing_codec.hpp"

namespace tersor::compressors {

/// Base of codecs of one round whose payload sizes follow from shape and dtype alone. Empty tensors
/// and payloads of a wrong size never reach the derived class.
class LeafCodec : public SummingCodec {
 public:
  LeafCodec(std::string canonical, Exchange exchange);

  std::string canonical() const final { return canonical_; }
  Exchange exchange(int) const final { return exchange_; }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const final;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const final;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const final;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const final;

 protected:
  struct Sizes {
    std::size_t metadata = 0;
    std::size_t codes = 0;
  };
  /// Of a tensor that has elements.
  virtual Sizes sizes(const Shape& shape, DType dtype) const = 0;
  /// Writes exactly the bytes that sizes() counts; on the device where context.device says so.
  virtual void write(const TensorView& in, std::byte* out, const Context& context) const = 0;
  /// out = or += the decoded message. Not called where sum_payloads is overridden.
  virtual void read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
                    float* out, const Context& context) const;
  /// Default: read() for each payload.
  void sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                    DType dtype, bool is_accumulated, float* out,
                    const Context& context) const override;

  /// Codec::decode_on_device for payloads of the right size and a tensor that has elements.
  virtual void read_on_device(std::span<const std::span<const std::byte>> payloads,
                              const Shape& shape, DType dtype, const DecodeTarget& target,
                              const Context& context) const;

  /// Stream of stochastic rounding (METHODS section 1, "RNG").
  static Stream rounding_stream(const Context& context);

 private:
  std::string canonical_;
  Exchange exchange_;
};

}  // namespace tersor::compressors
