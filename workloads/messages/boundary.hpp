// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compressors/api/codec.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/messages/ledger.hpp"
#include "workloads/messages/pass.hpp"

namespace tersor::workloads {

/// Messages from one rank to one rank: activations to the next stage of a pipeline (`pp`), or their
/// gradients to the previous one (`pp.gradient`); METHODS section 3. The sender takes all rounds of
/// the codec, as the only rank of a sum, and the receiver follows it; each end has states of its
/// own. On the wire a message is 8 bytes with the payloads' size, then the payloads.
struct BoundaryPlace {
  Collective& world;  ///< outlives the ends
  Ledger& ledger;     ///< likewise
  std::uint64_t seed = 0;
  int threads = 1;
  int from = 0;
  int to = 0;
  int tag = 0;  ///< of this boundary and direction between the two ranks
};

/// What both ends have. Not thread-safe.
class BoundaryEnd {
 public:
  /// `codec` null: dense.
  BoundaryEnd(const BoundaryPlace& place, SiteIdentity identity,
              std::shared_ptr<const compressors::Codec> codec);
  const SiteIdentity& identity() const { return identity_; }
  const compressors::Codec* codec() const { return codec_.get(); }
  std::uint64_t state_bytes() const;

 protected:
  /// The codec of a message of this shape in this pass: `none` where it is not compressed.
  const compressors::Codec& active(const PassContext& pass, const Shape& shape, DType dtype) const;
  bool is_compressed(const PassContext& pass) const { return codec_ && pass.compress; }
  compressors::Context context(const PassContext& pass) const;
  /// Of messages of this many samples; null where the codec has none.
  compressors::State* state(const compressors::Codec& codec, const Shape& shape, DType dtype);
  Entry entry(const PassContext& pass, CollectiveKind collective, DType dtype) const;

  BoundaryPlace place_;
  SiteIdentity identity_;
  std::shared_ptr<const compressors::Codec> codec_, none_;
  Ledger::Account& account_;
  std::map<std::int64_t, std::unique_ptr<compressors::State>> states_;
  std::vector<std::byte> workspace_;
};

class BoundarySender : public BoundaryEnd {
 public:
  using BoundaryEnd::BoundaryEnd;
  /// Encodes the message, which may go when this returns, and starts to send it.
  void start(const PassContext& pass, const TensorView& message);
  /// Waits for what has been started, oldest first, until `left` messages are on their way.
  void finish(std::size_t left = 0);

 private:
  /// A message on its way. Kept when it has arrived, for the next one.
  struct Outgoing {
    std::uint64_t bytes = 0;
    std::vector<std::byte> payload;
    Entry entry;
    Round round;
    std::uint64_t raw_bytes = 0;
    std::unique_ptr<Work> header_work, payload_work;
  };

  std::deque<std::unique_ptr<Outgoing>> under_way_;
  std::vector<std::unique_ptr<Outgoing>> free_;
  std::vector<float> scratch_;
};

/// Time that a receiver waited for a message.
struct Waiting {
  std::int64_t idle_ns = 0;     ///< for the sender to begin: a bubble
  std::int64_t exposed_ns = 0;  ///< for the bytes, from then on
};

class BoundaryReceiver : public BoundaryEnd {
 public:
  using BoundaryEnd::BoundaryEnd;
  /// Asks for the next message, ahead of the receive() of the same pass and shape. At most one
  /// ahead.
  void expect(const PassContext& pass, const Shape& shape, DType dtype);
  /// The next message, decoded into `out`. Throws Error(kPeer) where a peer is lost,
  /// Error(kPayload) where the payload is not one of the codec.
  Waiting receive(const PassContext& pass, const Shape& shape, DType dtype,
                  std::span<std::byte> out);

 private:
  void start_payload(std::size_t bytes);

  std::uint64_t bytes_ = 0;
  std::size_t most_ = 0;  ///< bytes of the payloads, or a bound where they vary
  std::unique_ptr<Work> header_work_, payload_work_;
  std::vector<std::byte> payload_;
  std::vector<float> scratch_;
};

}  // namespace tersor::workloads
