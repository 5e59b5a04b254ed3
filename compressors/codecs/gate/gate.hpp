// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// Sends small messages raw: below `min_bytes` the codec is `none` (METHODS section 2). Rounds,
/// exchange and reduce_dtype of a message are those of effective(); the gate's own are the inner
/// codec's.
class Gate final : public Wrapper {
 public:
  Gate(std::shared_ptr<const Codec> inner, std::int64_t min_bytes, bool is_forced,
       std::string canonical);

  const Codec& effective(const Shape& shape, DType dtype) const override;
  /// Of an open gate.
  std::int64_t summed_hidden(const Shape& shape) const override {
    return inner().summed_hidden(shape);
  }
  Properties properties() const override;
  bool supports(Device device) const override;
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  std::size_t part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                         std::uint32_t to, const State* state) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void absorb(int round, std::span<const std::span<const std::byte>> received, const Shape& shape,
              DType dtype, State* state, const Context& context) const override;
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype, void* out,
                   State* state, const Context& context) const override;
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state, const Context& context) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  std::int64_t min_bytes_;
  bool is_forced_;
  std::shared_ptr<const Codec> none_;
};

}  // namespace tersor::compressors
