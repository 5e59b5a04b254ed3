// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// Sum inside the node by one codec, sum of the nodes' sums by another (METHODS section 2): two
/// stages of a topology. As a codec it is the single
/// message: the inner payload, then the outer payload of what the inner one decodes to.
class Hierarchical final : public Codec {
 public:
  Hierarchical(std::shared_ptr<const Codec> inner, std::shared_ptr<const Codec> outer,
               std::string canonical);

  std::vector<TopologyStage> topology() const override {
    return {{GroupLevel::kNode, inner_.get()}, {GroupLevel::kNodes, outer_.get()}};
  }
  std::string canonical() const override { return canonical_; }
  Properties properties() const override;
  bool supports(Device device) const override;
  bool decodes_with_state() const override { return outer_->decodes_with_state(); }
  Exchange exchange(int) const override { return Exchange::kGather; }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  std::int64_t added_parameters(const Shape& shape, std::uint32_t ranks) const override;
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  /// The outer payload of a single message.
  std::span<const std::byte> outer_part(std::span<const std::byte> payload, const Shape& shape,
                                        DType dtype, const Context& context) const;

  std::shared_ptr<const Codec> inner_;
  std::shared_ptr<const Codec> outer_;
  std::string canonical_;
};

}  // namespace tersor::compressors
