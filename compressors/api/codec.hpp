// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/philox.hpp"
#include "common/tensor.hpp"

namespace tersor::compressors {

enum class Phase : std::uint8_t { kTrain = 0, kEval = 1 };
enum class Direction : std::uint8_t { kForward = 0, kBackward = 1 };
enum class Device : std::uint8_t { kCpu, kCuda };

/// How the payloads of one round cross the ranks.
enum class Exchange : std::uint8_t {
  kAllReduce,  ///< payload is an array of reduce_dtype(); the ranks' arrays are summed
  kGather,     ///< every rank gets every rank's payload (at a pipeline site: one send)
  kAllToAll    ///< payload is `ranks` parts; rank r gets part r of every rank
};

/// What both ends of a message know of it. Values that a caller does not set are 0, as in METHODS
/// section 1.
struct Context {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint16_t call = 0;  ///< micro-batch in the step
  std::uint16_t site = 0;
  Direction direction = Direction::kForward;
  Phase phase = Phase::kTrain;
  std::uint32_t rank = 0;  ///< encode: the sender; decode: the rank whose payload it is
  std::uint32_t ranks = 1;
  std::int64_t element_offset =
      0;  ///< index of this tensor's first element in the whole tensor (twostep, aqsgd)
  bool second_round =
      false;  ///< round two of twostep, outer codec of hierarchical: rounding draws purpose 6
  std::span<const std::int64_t> sample_ids{};  ///< one per sample; data-set row and crop (aqsgd)
  TensorView local_input{};  ///< the rank's own contribution, where a decode wants it (partial)
  Device device = Device::kCpu;
  void* stream = nullptr;            ///< cudaStream_t when device is kCuda
  std::span<std::byte> workspace{};  ///< at least workspace_bytes(); empty: the codec allocates
  int threads = 1;

  Stream random(Purpose purpose, bool with_rank) const;
  /// Streams fixed over steps depend on seed, site and purpose only.
  Stream fixed_random(Purpose purpose) const;
};

class DeviceMemory;

/// State of a codec at one site and direction: the sender's half (error feedback) and the
/// receiver's half (copies of each sender's g or m). Created by Codec::make_state; phase kEval
/// never changes it.
class State {
 public:
  virtual ~State() = default;
  /// Moves what is kept to a device, for calls with Device::kCuda; `memory` must outlive the state.
  /// Later calls on the CPU, and on another device, are errors of the caller. Throws
  /// Error(kUnsupported) where the codec keeps what a device cannot hold.
  virtual void move_to(DeviceMemory& memory);
  virtual std::size_t bytes() const = 0;
  virtual std::vector<std::byte> save() const = 0;
  /// Throws Error(kPayload) where the bytes are not of this codec and shape.
  virtual void restore(std::span<const std::byte> saved) = 0;
};

enum class StateKind : std::uint8_t { kNone, kSite, kSample };
enum class Spread : std::uint8_t { kElement, kRow, kTensor };

/// Where a call on a device puts n decoded elements.
struct DecodeTarget {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  bool is_accumulated = false;  ///< add to what is there
  /// Codec::decodes_into_kept: an array for each payload (eight at most), to which that is added;
  /// the arrays' values then take the payloads' place in the sum, and stay, non-finite ones as 0.
  std::span<float* const> kept{};
};

/// What a wrapper keeps of its messages on a device: n floats that encode_with_kept reads and
/// rewrites. A non-finite one counts as 0.
struct KeptArray {
  enum Meaning : std::uint8_t {
    kNegativeError,  ///< -e: sends x + e, leaves -(x + e) + decoded
    kResult,         ///< g: sends x - g, leaves g + decoded
    kSample          ///< the same of values that may be -0: a sample as it was first seen
  };
  float* values = nullptr;
  Meaning meaning = kResult;
};

/// Declared properties; the generic suite tests every one of them (METHODS section 1,
/// "Properties").
struct Properties {
  bool summable = false;  ///< decode(sum of codes) = sum of decodes within summable_tolerance
  double summable_tolerance = 0;
  bool unbiased = false;
  std::string unbiased_range;  ///< where unbiased holds, for people
  std::function<std::optional<double>(const Shape&)>
      contraction{};  ///< delta: |x-C(x)|^2 <= (1-delta)|x|^2
  /// Largest |x - decode| per element as a multiple of the finite absolute maximum of the tensor,
  /// if bounded; 2^-133, the smallest step of bfloat16, comes on top.
  std::optional<double> error_bound_of_absmax;
  bool bit_exact = true;
  double tolerance = 0;  ///< relative L2, where not bit_exact
  StateKind state = StateKind::kNone;
  bool fixed_size = true;
  bool lossless = false;
  bool token_local = false;
  bool sample_local = false;
  bool learned = false;
  /// |x - C(x)| may exceed |x| by design (unbiased estimates, a part of the channels): no error
  /// feedback around it. Wrappers hand their inner codec's value on.
  bool is_expansive = false;
  /// false: the payload depends on step or rank, not on tensor, seed and site alone.
  bool deterministic = true;
  Spread nonfinite_spread = Spread::kElement;
};

/// Learned linear bottleneck Z = X E, out = (sum of Z) D: the weights live in the workload, which
/// also differentiates.
struct LearnedBottleneck {
  std::int64_t dim = 0;
  bool per_rank = true;  ///< one encoder per rank (false: the same E on every rank)
};

/// Which ranks of a group join in one stage of a message's way.
enum class GroupLevel : std::uint8_t {
  kAll,   ///< all of them
  kNode,  ///< those of a node, each node by itself
  kNodes  ///< the first rank of every node
};

class Codec;

/// One stage: the ranks of each group at `level` sum, by `codec` and its rounds, what the stage
/// before left them (the first stage: their contributions).
struct TopologyStage {
  GroupLevel level = GroupLevel::kAll;
  const Codec* codec = nullptr;  ///< belongs to the codec that declares the stage
};

/// A codec at one place: spans in, bytes out. Immutable and thread-safe; what changes is in State.
/// Knows no torch, file or network. Sizes are in bytes; all pointers belong to the caller.
///
/// One message crosses in rounds(): for r in rounds: encode(r) -> exchange(r) -> absorb(r) (all but
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
  /// Device::kCuda: encodes x + e or x - g (KeptArray), in float32 and rounded to the input's
  /// dtype, and adds the decoded message to what is kept; one round, no state, n > 0. Default: a
  /// pass before encode, over a copy in the workspace, and decode_accumulate after it.
  virtual std::size_t encode_with_kept(const TensorView& in, const KeptArray& kept,
                                       std::span<std::byte> out, const Context& context) const;
  /// What encode_with_kept takes beside workspace_bytes(). Default: n of the input's dtype.
  virtual std::size_t kept_workspace_bytes(const Shape& shape, DType dtype,
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
  /// decode_on_device takes DecodeTarget::kept, with a float32 target.
  virtual bool decodes_into_kept() const { return false; }
  /// Decoding reads or changes the state (`ef21`, `aqsgd` and what stands around them): on a device
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
