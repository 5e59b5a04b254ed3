// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// Compressed all-reduce in two steps: rows are split in a chunk per rank, each rank gets its chunk
/// of every rank, sums, compresses the sum and sends it to all (METHODS section 2).
///
/// Round 0 (all-to-all): the payload is the chunk payloads, one after the other; absorb() sums the
/// own chunk into the state. Round 1 (gather): the payload is the own chunk's sum, encoded.
class TwoStep final : public Wrapper {
 public:
  TwoStep(std::shared_ptr<const Codec> inner, std::string canonical);

  Properties properties() const override;
  int rounds() const override { return 2; }
  Exchange exchange(int round) const override {
    return round == 0 ? Exchange::kAllToAll : Exchange::kGather;
  }
  bool is_of_payload(int round) const override { return round == 0; }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  /// Chunk `to`, in both rounds.
  std::size_t part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                         std::uint32_t to, const State* state) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  bool supports(Device device) const override;
  /// Holds the own chunk's sum between absorb() and round 1; nothing from message to message.
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void absorb(int round, std::span<const std::span<const std::byte>> received, const Shape& shape,
              DType dtype, State* state, const Context& context) const override;
  /// A single message: one rank's payload of round 0, which goes through both rounds as the only
  /// one.
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  /// `received`: the payloads of round 1, in rank order.
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  struct Chunk;
  static Chunk chunk(const Shape& shape, const Context& context, std::uint32_t which);
  std::size_t encode_sum(std::span<const float> sum, const Chunk& chunk, DType dtype,
                         std::span<std::byte> out) const;
  void sum_on_device(std::span<const std::span<const std::byte>> received, const Chunk& own,
                     DType dtype, const DecodeTarget& rounded) const;
  std::size_t inner_workspace(const Shape& shape, DType dtype, const Context& context) const;
};

}  // namespace tersor::compressors
