// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/tensor.hpp"
#include "compressors/api/context.hpp"
#include "compressors/api/device_message.hpp"
#include "compressors/api/properties.hpp"
#include "compressors/api/state.hpp"
#include "compressors/api/topology.hpp"

namespace tersor::compressors {

/// How the payloads of one round cross the ranks.
enum class Exchange : std::uint8_t {
  kAllReduce,  ///< payload is an array of reduce_dtype(); the ranks' arrays are summed
  kGather,     ///< every rank gets every rank's payload (at a pipeline site: one send)
  kAllToAll    ///< payload is `ranks` parts; rank r gets part r of every rank
};

/// Learned linear bottleneck Z = X E, out = (sum of Z) D: the weights live in the workload, which
/// also differentiates.
struct LearnedBottleneck {
  std::int64_t dim = 0;
  bool per_rank = true;  ///< one encoder per rank (false: the same E on every rank)
};

/// A codec at one place: spans in, bytes out. Immutable and thread-safe; what changes is in State.
/// Knows no torch, file or network. Sizes are in bytes; all pointers belong to the caller.
///
/// One message takes rounds(): for r in rounds: encode(r) -> exchange(r) -> absorb(r) (all but
/// the last) and then combine() of what the last exchange brought. One-round codecs need encode,
/// decode and payload_bytes only.
class Codec {
 public:
  virtual ~Codec() = default;

  /// Canonical spec (METHODS section 1, "Spec grammar").
  virtual std::string canonical() const = 0;
  virtual Properties properties() const = 0;

  /// The codec that a message of this shape really uses (`gate` sends `none` below its limit). Ask
  /// it, not the gate, for exchange and reduce_dtype.
  virtual const Codec& effective(const Shape&, DType) const { return *this; }

  /// Channels (hidden positions) that the sum at a site adds over the ranks, the first ones; the
  /// rest stays what it is on each rank (`partial`).
  virtual std::int64_t summed_hidden(const Shape& shape) const { return shape.hidden; }

  /// The stages by which a site sums a message over its group. From the second on, contexts have
  /// second_round set; where the last one is kNodes, the sum is then broadcast inside the nodes.
  virtual std::vector<TopologyStage> topology() const { return {{GroupLevel::kAll, this}}; }

  virtual int rounds() const { return 1; }
  virtual Exchange exchange(int round) const = 0;
  /// Whether what a rank hands over in this round is part of the message's payload (METHODS section
  /// 1). What carries sums of messages instead is in the wire bytes alone.
  virtual bool is_of_payload(int) const { return true; }
  /// Element type of the payload of an all-reduce round for a message of `dtype`.
  virtual DType reduce_dtype(int round, DType dtype) const;

  /// Exact payload bytes of one rank in `round` (an upper bound where !fixed_size); both ends can
  /// compute it.
  virtual std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context,
                                    int round = 0, const State* state = nullptr) const = 0;
  /// The part of payload_bytes that is scales, minima, indices and the like.
  virtual std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context,
                                     int round = 0, const State* state = nullptr) const = 0;
  /// kAllToAll: bytes of the part for rank `to`. kGather: bytes of the payload of rank `to` in this
  /// round, where ranks differ (second round of twostep); by default payload_bytes.
  virtual std::size_t part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                                 std::uint32_t to, const State* state = nullptr) const;
  /// Scratch for any call on a message of this shape; Context::workspace may carry it.
  virtual std::size_t workspace_bytes(const Shape& shape, DType dtype,
                                      const Context& context) const;

  virtual std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                            std::uint32_t ranks) const;
  virtual bool supports(Device device) const { return device == Device::kCpu; }
  /// The payload of a float32 message is its values, one behind the other: a wrapper may write and
  /// read them in place of encode and decode.
  virtual bool sends_float32_as_is() const { return false; }
  /// Set for learned codecs only.
  virtual std::optional<LearnedBottleneck> learned() const { return std::nullopt; }
  virtual std::int64_t added_parameters(const Shape& shape, std::uint32_t ranks) const;
  virtual double added_flops(const Shape& shape, std::uint32_t ranks) const;

  /// Writes the payload of this rank in `round` to out (at least payload_bytes) and returns its
  /// bytes. An empty tensor has an empty payload.
  virtual std::size_t encode(int round, const TensorView& in, std::span<std::byte> out,
                             State* state, const Context& context) const = 0;
  /// Device::kCuda: encodes x + e or x - g (FeedbackArray), in float32 and rounded to the input's
  /// dtype, and adds the decoded message to the feedback array; one round, no state, n > 0.
  /// Default: a pass before encode, over a copy in the workspace, and decode_accumulate after it.
  virtual std::size_t encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                           std::span<std::byte> out, const Context& context) const;
  /// What encode_with_feedback takes beside workspace_bytes(). Default: n of the input's dtype.
  virtual std::size_t feedback_workspace_bytes(const Shape& shape, DType dtype,
                                               const Context& context) const;
  /// Takes what round `round` brought (kAllReduce: one array; kGather, kAllToAll: `ranks` payloads,
  /// in rank order) before round+1 is encoded.
  virtual void absorb(int round, std::span<const std::span<const std::byte>> received,
                      const Shape& shape, DType dtype, State* state, const Context& context) const;
  /// Decodes one message to float32 (context.rank = its sender). Throws Error(kPayload) on a
  /// payload that no encode makes (wrong size, indices out of order); never writes outside `out`.
  virtual void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                      std::span<float> out, State* state, const Context& context) const = 0;
  /// decode(), rounded once to the message's dtype (`out` holds n elements of it): what a single
  /// message means. `none` overrides it, since it copies bits (NaN payloads too).
  virtual void decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                           void* out, State* state, const Context& context) const;
  /// out += decode(payload), float32. Default: decode into scratch, then add.
  virtual void decode_accumulate(std::span<const std::byte> payload, const Shape& shape,
                                 DType dtype, std::span<float> out, State* state,
                                 const Context& context) const;
  /// The sum at the site from what the last exchange brought, in float32, not yet rounded to dtype.
  /// Default: one reduced array is decoded; several payloads are decoded and added in rank order
  /// (METHODS, "Sum at a site").
  virtual void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                       DType dtype, std::span<float> out, State* state,
                       const Context& context) const;

  /// Device::kCuda: decodes the payloads, adds them in their order in float32, rounds once to the
  /// target's dtype; one launch for up to eight. decode_bits, decode_accumulate and combine call it
  /// on a device, and so do the overrides of decode. Default: Error(kUnsupported).
  virtual void decode_on_device(std::span<const std::span<const std::byte>> payloads,
                                const Shape& shape, DType dtype, const DecodeTarget& target,
                                const Context& context) const;
  /// decode_on_device takes DecodeTarget::feedback, with a float32 target.
  virtual bool decodes_to_feedback() const { return false; }
  /// Decoding reads or changes the state (`ef21`, `aqsgd` and wrappers around them): on a device
  /// these decode by decode() alone.
  virtual bool decodes_with_state() const { return false; }
};

/// Parses, checks and builds a codec; throws Error(kSpec) with column and the nearest known name.
std::shared_ptr<const Codec> make_codec(std::string_view spec);
/// The canonical form, or throws as make_codec does.
std::string canonical_spec(std::string_view spec);

/// float32 to dtype: nearest even, finite values saturate, NaN canonical (METHODS section 1). `out`
/// holds n elements.
void round_to(DType dtype, std::span<const float> in, void* out);
/// dtype to float32, exact.
void widen(DType dtype, const void* in, std::span<float> out);

}  // namespace tersor::compressors
