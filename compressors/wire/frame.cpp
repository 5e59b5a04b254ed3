// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/frame.hpp"

#include <array>
#include <cstring>

#include "common/hash.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

// Printable letters between bytes that a text-mode transfer changes, as PNG has them.
constexpr std::array<unsigned char, 8> kMagic{0x89, 'T', 'R', 'S', 0x0D, 0x0A, 0x1A, 0x0A};
constexpr std::size_t kChecksumAt = 88;
constexpr std::uint32_t kMostSpecBytes = 65536;
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;

[[noreturn]] void refuse(FrameFault fault, const std::string& message) {
  throw FrameError(fault, message);
}

/// Over the fixed part up to the checksum itself, then spec and ids.
std::uint64_t header_checksum(std::span<const std::byte> header) {
  std::vector<std::byte> covered(header.begin(), header.begin() + kChecksumAt);
  covered.insert(covered.end(), header.begin() + kFrameFixedBytes, header.end());
  return xxh64(covered);
}

bool is_shape(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : {shape.samples, shape.tokens, shape.hidden}) {
    if (dim < 0 || dim > kMostElements) return false;
    if (dim != 0 && elements > kMostElements / dim) return false;
    elements *= dim == 0 ? 1 : dim;
  }
  return true;
}

/// Fields whose values, not whose bytes, are checked.
void check_fields(const Frame& frame, std::uint8_t dtype, std::uint8_t phase,
                  std::uint8_t direction, std::uint32_t id_count) {
  if (dtype > 2) refuse(FrameFault::kDType, "dtype " + std::to_string(dtype) + " is not 0, 1 or 2");
  if (phase > 1) refuse(FrameFault::kPhase, "phase " + std::to_string(phase) + " is not 0 or 1");
  if (direction > 1)
    refuse(FrameFault::kDirection, "direction " + std::to_string(direction) + " is not 0 or 1");
  if (frame.rank >= frame.ranks || frame.ranks > 65536)
    refuse(FrameFault::kRank,
           "rank " + std::to_string(frame.rank) + " of " + std::to_string(frame.ranks) + " ranks");
  if (!is_shape(frame.shape))
    refuse(FrameFault::kShape, "a size is negative, or the shape has more than 2^56 elements");
  if (id_count != 0 && id_count != frame.shape.samples)
    refuse(FrameFault::kIds, std::to_string(id_count) + " ids for " +
                                 std::to_string(frame.shape.samples) + " samples");
}

}  // namespace

std::string_view to_string(FrameFault fault) {
  constexpr std::array<std::string_view, 18> kNames{
      "too-short", "magic",        "version",    "header-size",      "header-checksum",
      "reserved",  "dtype",        "phase",      "direction",        "rank",
      "shape",     "ids",          "frame-size", "payload-checksum", "spec",
      "too-large", "payload-size", "payload"};
  return kNames[static_cast<std::size_t>(fault)];
}

FrameError::FrameError(FrameFault fault, const std::string& message)
    : Error(ErrorKind::kPayload, "frame: " + std::string(to_string(fault)) + ": " + message),
      fault_(fault) {}

Context Frame::context() const {
  Context context;
  context.seed = seed;
  context.step = step;
  context.call = call;
  context.site = site;
  context.direction = direction;
  context.phase = phase;
  context.rank = rank;
  context.ranks = ranks;
  context.sample_ids = ids;
  return context;
}

std::vector<std::byte> write_frame(const Frame& frame) {
  if (!frame.ids.empty() && frame.ids.size() != static_cast<std::size_t>(frame.shape.samples))
    throw Error(ErrorKind::kUsage, std::to_string(frame.ids.size()) + " ids for " +
                                       std::to_string(frame.shape.samples) + " samples");
  const std::size_t header_bytes = kFrameFixedBytes + frame.spec.size() + 8 * frame.ids.size();
  std::vector<std::byte> out(header_bytes + frame.payload.size());
  std::byte* p = out.data();
  std::memcpy(p, kMagic.data(), kMagic.size());
  store(p + 8, kWireVersion);
  store(p + 10, static_cast<std::uint8_t>(frame.dtype));
  store(p + 11, static_cast<std::uint8_t>(frame.phase));
  store(p + 12, static_cast<std::uint8_t>(frame.direction));
  store(p + 16, frame.seed);
  store(p + 24, frame.step);
  store(p + 28, frame.call);
  store(p + 30, frame.site);
  store(p + 32, frame.rank);
  store(p + 36, frame.ranks);
  store(p + 40, frame.shape.samples);
  store(p + 48, frame.shape.tokens);
  store(p + 56, frame.shape.hidden);
  store(p + 64, static_cast<std::uint64_t>(frame.payload.size()));
  store(p + 72, static_cast<std::uint32_t>(frame.spec.size()));
  store(p + 76, static_cast<std::uint32_t>(frame.ids.size()));
  store(p + 80, xxh64(frame.payload));
  if (!frame.spec.empty()) std::memcpy(p + kFrameFixedBytes, frame.spec.data(), frame.spec.size());
  std::byte* ids = p + kFrameFixedBytes + frame.spec.size();
  if (!frame.ids.empty()) std::memcpy(ids, frame.ids.data(), 8 * frame.ids.size());
  if (!frame.payload.empty())
    std::memcpy(p + header_bytes, frame.payload.data(), frame.payload.size());
  store(p + kChecksumAt, header_checksum(std::span(out).first(header_bytes)));
  return out;
}

Frame read_frame(std::span<const std::byte> bytes) {
  const std::string size = std::to_string(bytes.size());
  if (bytes.size() < kFrameFixedBytes)
    refuse(FrameFault::kTooShort, size + " bytes, a frame has 96 at least");
  const std::byte* p = bytes.data();
  if (std::memcmp(p, kMagic.data(), kMagic.size()) != 0)
    refuse(FrameFault::kMagic, "it does not begin with the eight bytes of a frame");
  const auto version = load<std::uint16_t>(p + 8);
  if (version != kWireVersion)
    refuse(FrameFault::kVersion, "version " + std::to_string(version) + ", this build reads 1");
  const auto spec_bytes = load<std::uint32_t>(p + 72);
  const auto id_count = load<std::uint32_t>(p + 76);
  const std::uint64_t header_bytes =
      kFrameFixedBytes + std::uint64_t{spec_bytes} + 8 * std::uint64_t{id_count};
  if (spec_bytes > kMostSpecBytes || header_bytes > bytes.size())
    refuse(FrameFault::kHeaderSize, "the header says that it has " + std::to_string(header_bytes) +
                                        " bytes, the frame has " + size);
  const auto header = bytes.first(static_cast<std::size_t>(header_bytes));
  if (header_checksum(header) != load<std::uint64_t>(p + kChecksumAt))
    refuse(FrameFault::kHeaderChecksum, "the header is damaged");
  if (p[13] != std::byte{0} || p[14] != std::byte{0} || p[15] != std::byte{0})
    refuse(FrameFault::kReserved, "bytes 13 to 15 are not 0");

  Frame frame;
  frame.seed = load<std::uint64_t>(p + 16);
  frame.step = load<std::uint32_t>(p + 24);
  frame.call = load<std::uint16_t>(p + 28);
  frame.site = load<std::uint16_t>(p + 30);
  frame.rank = load<std::uint32_t>(p + 32);
  frame.ranks = load<std::uint32_t>(p + 36);
  frame.shape = {load<std::int64_t>(p + 40), load<std::int64_t>(p + 48),
                 load<std::int64_t>(p + 56)};
  const auto dtype = load<std::uint8_t>(p + 10);
  const auto phase = load<std::uint8_t>(p + 11);
  const auto direction = load<std::uint8_t>(p + 12);
  check_fields(frame, dtype, phase, direction, id_count);
  frame.dtype = static_cast<DType>(dtype);
  frame.phase = static_cast<Phase>(phase);
  frame.direction = static_cast<Direction>(direction);

  const auto payload = bytes.subspan(header.size());
  if (payload.size() != load<std::uint64_t>(p + 64))
    refuse(FrameFault::kFrameSize, "the header says that the payload has " +
                                       std::to_string(load<std::uint64_t>(p + 64)) +
                                       " bytes, it has " + std::to_string(payload.size()));
  if (xxh64(payload) != load<std::uint64_t>(p + 80))
    refuse(FrameFault::kPayloadChecksum, "the payload is damaged");
  frame.spec.assign(reinterpret_cast<const char*>(p + kFrameFixedBytes), spec_bytes);
  frame.ids.resize(id_count);
  if (id_count > 0)
    std::memcpy(frame.ids.data(), p + kFrameFixedBytes + spec_bytes, 8 * frame.ids.size());
  frame.payload.assign(payload.begin(), payload.end());
  return frame;
}

std::vector<std::byte> encode_frame(std::string_view spec, const TensorView& in,
                                    const Context& context) {
  const auto codec = make_codec(spec);
  Frame frame;
  frame.spec = codec->canonical();
  frame.shape = in.shape;
  frame.dtype = in.dtype;
  frame.seed = context.seed;
  frame.phase = context.phase;
  frame.step = context.step;
  frame.call = context.call;
  frame.site = context.site;
  frame.direction = context.direction;
  frame.rank = context.rank;
  frame.ranks = context.ranks;
  frame.ids.assign(context.sample_ids.begin(), context.sample_ids.end());
  const auto state = codec->make_state(in.shape, in.dtype, context.ranks);
  frame.payload.resize(codec->payload_bytes(in.shape, in.dtype, context, 0, state.get()));
  frame.payload.resize(codec->encode(0, in, frame.payload, state.get(), context));
  return write_frame(frame);
}

namespace {

/// A message of several all-reduce rounds decodes at a site alone. Asked before the limit, which a
/// higher --max-elements would lift in vain.
void check_rounds(const Codec& codec, const Frame& frame) {
  const Codec& used = codec.effective(frame.shape, frame.dtype);
  if (frame.shape.elements() == 0 || used.rounds() == 1 || used.exchange(0) != Exchange::kAllReduce)
    return;
  refuse(FrameFault::kSpec,
         codec.canonical() + " needs its rounds at a site; a single message cannot show it");
}

/// A decoder's memory follows the elements of the tensor, and of a learned codec its weights too.
void check_limit(const Codec& codec, const Shape& shape, std::int64_t max_elements) {
  const std::string limit = ", the reader's limit is " + std::to_string(max_elements) +
                            "; a higher one (--max-elements) decodes it where memory allows";
  if (shape.elements() > max_elements)
    refuse(FrameFault::kTooLarge, std::to_string(shape.elements()) + " elements" + limit);
  const auto learned = codec.learned();
  if (learned && shape.elements() > 0 && learned->dim > max_elements / shape.hidden)
    refuse(FrameFault::kTooLarge, codec.canonical() + " has " + std::to_string(shape.hidden) +
                                      " x " + std::to_string(learned->dim) + " weights" + limit);
}

}  // namespace

DecodedFrame decode_frame(std::span<const std::byte> bytes, std::int64_t max_elements) {
  DecodedFrame decoded{read_frame(bytes), {}};
  const Frame& frame = decoded.frame;
  std::shared_ptr<const Codec> codec;
  try {
    codec = make_codec(frame.spec);
  } catch (const Error& error) {
    refuse(FrameFault::kSpec, error.what());
  }
  if (codec->canonical() != frame.spec)
    refuse(FrameFault::kSpec, "'" + frame.spec + "' is not canonical: " + codec->canonical());
  check_rounds(*codec, frame);
  check_limit(*codec, frame.shape, max_elements);
  const Context context = frame.context();
  try {
    const auto state = codec->make_state(frame.shape, frame.dtype, frame.ranks);
    const std::size_t expected =
        codec->payload_bytes(frame.shape, frame.dtype, context, 0, state.get());
    const bool is_fixed = codec->properties().fixed_size;
    if (is_fixed ? frame.payload.size() != expected : frame.payload.size() > expected)
      refuse(FrameFault::kPayloadSize, std::to_string(frame.payload.size()) + " bytes, " +
                                           frame.spec + " sends " + std::to_string(expected));
    decoded.bits.resize(static_cast<std::size_t>(frame.shape.elements()) * item_bytes(frame.dtype));
    codec->decode_bits(frame.payload, frame.shape, frame.dtype, decoded.bits.data(), state.get(),
                       context);
  } catch (const FrameError&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
    if (error.kind() == ErrorKind::kUnsupported) refuse(FrameFault::kSpec, error.what());
    refuse(FrameFault::kPayload, error.what());
  }
  return decoded;
}

}  // namespace tersor::compressors
