// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compressors/api/codec.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/messages/durations.hpp"
#include "workloads/messages/wire_bytes_at.hpp"

namespace tersor::workloads {

/// What is added over the ranks: one contribution per local rank.
struct Message {
  std::span<const std::span<std::byte>> contributions;
  Shape shape;
  DType dtype = DType::kFloat32;
};

/// What one round of a message was, for the first local rank. The message's payload counts once: a
/// round that carries sums (Codec::is_of_payload) has none, its bytes are those of the volume.
struct Round {
  int number = 0;
  Volume volume;
  Durations spent;  ///< of all local ranks
  WireBytesAt wire_bytes_at{};
  std::uint64_t payload_bytes = 0;
  std::uint64_t metadata_bytes = 0;
};

/// Takes messages through the rounds of their codec among the ranks of one collective: encode,
/// exchange, absorb, and combine at the end. Its buffers are kept from message to message, so that
/// a step allocates nothing here.
class Messenger {
 public:
  using Buffer = std::span<std::byte>;
  using Bytes = std::span<const std::byte>;

  /// `collective` outlives it; `places` says where its ranks stand in the whole group.
  explicit Messenger(Collective& collective, compressors::RankPlaces places = {});

  /// The sum over the ranks into `outs`: one buffer, for all (where ranks keep channels of their
  /// own: the first local rank's), or one per local rank. `base` is what all ranks' contexts share.
  /// `states`: one per local rank, null for codecs that have none. `codec` is the effective one.
  std::vector<Round> sum(const compressors::Codec& codec, const Message& message,
                         const compressors::Context& base,
                         std::span<compressors::State* const> states, std::span<const Buffer> outs);

  /// What the first local rank handed over in the last round; after an all-reduce, the sum.
  Bytes last_payload() const { return encoded_[0]; }

 private:
  struct Exchanged {
    Volume volume;
    std::uint64_t size_bytes = 0;  ///< of the sizes that varying payloads need
  };

  std::size_t locals() const { return encoded_.size(); }
  compressors::Context context(std::size_t local) const;
  void find_sizes(int round);
  void encode_round(int round);
  Exchanged exchange_round(int round);
  Exchanged exchange_sum(int round);
  Exchanged exchange_gather();
  Exchanged exchange_parts(int round);
  void combine(std::span<const Buffer> outs);

  Collective& collective_;
  compressors::RankPlaces places_;
  // The message under way:
  const compressors::Codec* codec_ = nullptr;
  const Message* message_ = nullptr;
  compressors::Context base_;
  std::span<compressors::State* const> states_;
  // Kept:
  std::vector<std::vector<std::byte>> payloads_;  ///< per local rank: what it hands over
  std::vector<Buffer> encoded_;                   ///< the used part of payloads_
  std::vector<std::size_t> sizes_;                ///< a gather's payloads, of all ranks
  std::vector<std::byte> received_;               ///< what the last exchange brought to all ranks
  std::vector<std::vector<std::byte>> parts_;     ///< kAllToAll: what it brought to each local rank
  std::vector<std::vector<Bytes>> arrived_;       ///< per local rank: views of the above
  std::vector<std::byte> workspace_;
  std::vector<float> scratch_;
};

}  // namespace tersor::workloads
