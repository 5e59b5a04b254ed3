// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compressors/api/codec.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/messages/error_sampler.hpp"
#include "workloads/messages/ledger.hpp"
#include "workloads/messages/messenger.hpp"
#include "workloads/messages/pass.hpp"
#include "workloads/messages/rank_groups.hpp"

namespace tersor::workloads {

/// What the sites of a group share; the references outlive them.
struct SiteHost {
  RankGroups& ranks;
  Ledger& ledger;
  std::uint64_t seed = 0;
  bool has_codecs = false;  ///< codecs are on: between ranks, or in loopback
  int threads = 1;
};

/// One place where ranks' partial sums are added: a row-parallel output (forward) or the conjugate
/// all-reduce of a column-parallel input (backward). METHODS sections 1 ("Sum at a site") and 3. It
/// has an identity, a codec and the codec's states; the codec says by which stages a message goes.
class Site {
 public:
  using Buffer = std::span<std::byte>;
  using Bytes = std::span<const std::byte>;

  /// `codec` null: dense.
  Site(const SiteHost& host, SiteIdentity identity,
       std::shared_ptr<const compressors::Codec> codec);

  const SiteIdentity& identity() const { return identity_; }
  const compressors::Codec* codec() const { return codec_.get(); }
  /// A message of this shape is not encoded in this pass: sum() then works in place.
  bool is_dense(const PassContext& pass, const Shape& shape, DType dtype) const {
    return active(pass, shape, dtype) == nullptr;
  }
  /// A learned codec is on in this pass; the caller then runs it and calls sum_codes().
  bool is_learned(const PassContext& pass) const;
  /// Channels of a message of this shape that are added in this pass; the rest stays each rank's
  /// own.
  std::int64_t summed_hidden(const PassContext& pass, const Shape& shape, DType dtype) const;

  /// Adds the message's contributions over all ranks into `outs`: one buffer for all, or one per
  /// local rank where they keep channels of their own. Dense: outs[l] must be contributions[l],
  /// those without an out are scratch afterwards.
  void sum(const PassContext& pass, const Message& message, std::span<const Buffer> outs);
  void sum(const PassContext& pass, const Message& message, Buffer out) {
    sum(pass, message, std::span(&out, 1));
  }
  /// Dense, in place and without waiting; end it with finish().
  std::unique_ptr<Work> start_sum(const PassContext& pass, const Message& message);
  void finish(const PassContext& pass, Work& work, const Message& message);

  /// Learned codecs: the codes of the local ranks (`count` elements each) are added into codes[0];
  /// shape and dtype are those of the message that they stand for.
  void sum_codes(const PassContext& pass, std::span<const Buffer> codes, std::size_t count,
                 const Shape& shape, DType dtype);
  /// After a learned codec's decoder: its times, and the error sample if the pass asks for one.
  void finish_codes(const PassContext& pass, const Durations& spent, const Message& message,
                    Bytes out);

  std::uint64_t state_bytes() const;

 private:
  /// One level that a codec's stages use: a messenger for each of its groups, and their sums.
  struct Route {
    std::vector<Messenger> messengers;
    std::vector<std::vector<std::byte>> sums;
  };
  /// Of a round whose bytes depend on these alone.
  struct RoundKey {
    const compressors::Codec* codec;
    std::int64_t samples, tokens, hidden;
    DType dtype;
    int round;
    auto operator<=>(const RoundKey&) const = default;
  };
  /// States of one codec for messages of one number of samples: a last, short batch of an
  /// evaluation has its own.
  struct StateKey {
    std::int64_t samples;
    compressors::GroupLevel level;
    auto operator<=>(const StateKey&) const = default;
  };

  /// The codec that encodes a message of this shape in this pass; null: dense.
  const compressors::Codec* active(const PassContext& pass, const Shape& shape, DType dtype) const;
  compressors::Context context(const PassContext& pass) const;
  /// `count` states of `codec`, made where there are none yet.
  std::vector<compressors::State*> states(const compressors::Codec& codec, const Message& message,
                                          compressors::GroupLevel level, std::size_t count,
                                          int ranks);
  Route& route(compressors::GroupLevel level);
  ErrorSampler::Before remember(const PassContext& pass, const compressors::Codec& codec,
                                const Message& message);
  void sum_dense(const PassContext& pass, const Message& message, std::span<const Buffer> outs);
  void sum_by_stages(const PassContext& pass, const compressors::Codec& codec,
                     const Message& message, std::span<const Buffer> outs);
  std::vector<Buffer> run_stage(const compressors::TopologyStage& stage, const Message& message,
                                const compressors::Context& context, std::uint64_t raw_bytes,
                                std::span<const Buffer> outs);
  /// What the first rank would send in the round at other numbers of ranks.
  const WireBytesAt& wire_bytes_at(const compressors::Codec& codec, const Message& message,
                                   const compressors::Context& context, int round);
  void broadcast_in_nodes(const PassContext& pass, DType dtype, Buffer out);
  void store(const PassContext& pass, const Message& message);

  SiteHost host_;
  SiteIdentity identity_;
  std::shared_ptr<const compressors::Codec> codec_;
  Ledger::Account& account_;
  ErrorSampler sampler_;
  std::map<compressors::GroupLevel, Route> routes_;
  std::map<RoundKey, WireBytesAt> wire_bytes_at_;
  std::map<StateKey, std::vector<std::unique_ptr<compressors::State>>> states_;
};

}  // namespace tersor::workloads
