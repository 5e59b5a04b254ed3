// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/twostep/twostep.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/device/device_floats.hpp"
#include "compressors/device/sparse_plan.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo twostep_info() {
  CodecInfo info;
  info.name = "twostep";
  info.summary = "compressed all-reduce in two steps: all-to-all, sum, all-gather";
  info.source = "Wang et al., ZeRO++, 2023; FlashCommunication, 2024; QuickReduce, 2025";
  info.parameters = {Parameter::codec("codec", "a codec of one round without state")};
  info.make = [](const Arguments& a) {
    return std::make_shared<TwoStep>(a.codec("codec"), a.canonical());
  };
  info.refuses = [](std::string_view, std::string_view name, const Codec& inner) {
    return refuses_state_or_rounds(name, inner);
  };
  info.examples = {"twostep(quantize(bits=4,scope=group,group=32))", "twostep(none)",
                   "twostep(quantize(bits=4,rounding=stochastic))", "twostep(topk(ratio=0.1))"};
  return info;
}

const CodecRegistrar kRegistrar(twostep_info());
const PresetRegistrar kQuickReduce({"quickreduce4",
                                    "twostep(quantize(bits=4,scope=group,group=32))",
                                    "4-bit all-reduce; not checked against the authors' code",
                                    "AMD, QuickReduce, 2025"});

class SumState final : public State {
 public:
  explicit SumState(std::size_t bytes) : bytes_(bytes) {}
  void move_to(DeviceMemory& memory) override { rounded = DeviceArray(memory, bytes_); }
  std::size_t bytes() const override { return sum.size() * sizeof(float) + rounded.bytes(); }
  std::vector<std::byte> save() const override { return {}; }
  void restore(std::span<const std::byte> saved) override {
    if (!saved.empty()) throw Error(ErrorKind::kPayload, "twostep: keeps no state");
  }
  std::vector<float> sum;      ///< of the own chunk, in float32
  DeviceArray rounded;         ///< the same on a device, in the message's dtype
  std::int64_t elements = -1;  ///< that it has; none before the first absorb

 private:
  std::size_t bytes_;  ///< of the largest chunk, rounded
};

SumState& sum_state(State* state) {
  auto* own = dynamic_cast<SumState*>(state);
  TERSOR_CHECK(own != nullptr, "twostep needs the state that make_state gave");
  return *own;
}

}  // namespace

// A chunk is a tensor {1, rows, hidden} whose draws start at the index of its first element.
struct TwoStep::Chunk {
  Shape shape;
  std::int64_t first = 0;  ///< element of the whole tensor
  Context context;
};

TwoStep::Chunk TwoStep::chunk(const Shape& shape, const Context& context, std::uint32_t which) {
  const std::int64_t ranks = std::max<std::int64_t>(1, context.ranks);
  const std::int64_t rows = shape.rows();
  const std::int64_t longer = rows % ranks;
  const std::int64_t each = rows / ranks;
  const std::int64_t first_row = which * each + std::min<std::int64_t>(which, longer);
  Chunk c{{1, each + (which < longer ? 1 : 0), shape.hidden}, first_row * shape.hidden, context};
  c.context.element_offset += c.first;
  return c;
}

std::size_t TwoStep::inner_workspace(const Shape& shape, DType dtype,
                                     const Context& context) const {
  std::size_t bytes = 0;  // chunks have two sizes
  for (const std::uint32_t c : {0u, std::max(1u, context.ranks) - 1}) {
    const Chunk part = chunk(shape, context, c);
    bytes = std::max(bytes, inner().workspace_bytes(part.shape, dtype, part.context));
  }
  return bytes;
}

TwoStep::TwoStep(std::shared_ptr<const Codec> inner, std::string canonical)
    : Wrapper(std::move(inner), std::move(canonical)) {}

Properties TwoStep::properties() const {
  // A message is encoded twice, and a chunk is no whole tensor.
  Properties p = stateful_properties(inner(), StateKind::kNone);
  p.lossless = inner().properties().lossless;
  p.sample_local = p.token_local;
  return p;
}

std::size_t TwoStep::payload_bytes(const Shape& shape, DType dtype, const Context& context,
                                   int round, const State* state) const {
  if (round == 1) return part_bytes(shape, dtype, context, 1, context.rank, state);
  std::size_t bytes = 0;
  for (std::uint32_t c = 0; c < std::max(1u, context.ranks); ++c)
    bytes += part_bytes(shape, dtype, context, 0, c, state);
  return bytes;
}

std::size_t TwoStep::metadata_bytes(const Shape& shape, DType dtype, const Context& context,
                                    int round, const State*) const {
  std::size_t bytes = 0;
  for (std::uint32_t c = 0; c < std::max(1u, context.ranks); ++c) {
    if (round == 1 && c != context.rank) continue;
    const Chunk part = chunk(shape, context, c);
    bytes += inner().metadata_bytes(part.shape, dtype, part.context, 0, nullptr);
  }
  return bytes;
}

std::size_t TwoStep::part_bytes(const Shape& shape, DType dtype, const Context& context, int,
                                std::uint32_t to, const State*) const {
  const Chunk part = chunk(shape, context, to);
  return inner().payload_bytes(part.shape, dtype, part.context, 0, nullptr);
}

std::size_t TwoStep::workspace_bytes(const Shape& shape, DType dtype,
                                     const Context& context) const {
  const Chunk largest = chunk(shape, context, 0);
  return 2 * Scratch::bytes_for<float>(largest.shape.elements()) +
         2 * inner_workspace(shape, dtype, context) +
         Scratch::bytes_for<std::byte>(
             static_cast<std::int64_t>(part_bytes(shape, dtype, context, 1, 0, nullptr)));
}

bool TwoStep::supports(Device device) const { return inner_supports(device); }

std::unique_ptr<State> TwoStep::make_state(const Shape& shape, DType dtype,
                                           std::uint32_t ranks) const {
  Context context;
  context.ranks = ranks;
  const Chunk largest = chunk(shape, context, 0);
  return std::make_unique<SumState>(static_cast<std::size_t>(largest.shape.elements()) *
                                    item_bytes(dtype));
}

std::size_t TwoStep::encode_sum(std::span<const float> sum, const Chunk& part, DType dtype,
                                std::span<std::byte> out) const {
  Scratch scratch(part.context);
  const auto rounded =
      scratch.take<std::byte>(part.shape.elements() * static_cast<std::int64_t>(item_bytes(dtype)));
  Context rest = part.context;
  rest.workspace = scratch.rest();
  round_to(dtype, sum, rounded.data());
  return inner().encode(0, {rounded.data(), part.shape, dtype}, out, nullptr, rest);
}

std::size_t TwoStep::encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                            const Context& context) const {
  expect_room(out, payload_bytes(in.shape, in.dtype, context, round, state), "twostep");
  if (round == 1) {
    Chunk own = chunk(in.shape, context, context.rank);
    own.context.second_round = true;
    const SumState& reduced = sum_state(state);
    TERSOR_CHECK(reduced.elements == own.shape.elements(), "twostep: round 1 follows absorb(0)");
    if (context.device == Device::kCuda)
      return inner().encode(0, {reduced.rounded.data(), own.shape, in.dtype}, out, nullptr,
                            own.context);
    return encode_sum(reduced.sum, own, in.dtype, out);
  }
  std::size_t size = 0;
  for (std::uint32_t c = 0; c < std::max(1u, context.ranks); ++c) {
    const Chunk part = chunk(in.shape, context, c);
    const auto* data = static_cast<const std::byte*>(in.data) +
                       static_cast<std::size_t>(part.first) * item_bytes(in.dtype);
    size +=
        inner().encode(0, {data, part.shape, in.dtype}, out.subspan(size), nullptr, part.context);
  }
  return size;
}

void TwoStep::absorb(int round, std::span<const std::span<const std::byte>> received,
                     const Shape& shape, DType dtype, State* state, const Context& context) const {
  TERSOR_CHECK(round == 0, "twostep absorbs round 0 only");
  TERSOR_CHECK(!received.empty(), "twostep: nothing to absorb");
  Chunk own = chunk(shape, context, context.rank);
  SumState& reduced = sum_state(state);
  reduced.elements = own.shape.elements();
  if (context.device == Device::kCuda)
    return sum_on_device(received, own, dtype, {reduced.rounded.data(), dtype, false});
  std::vector<float>& sum = reduced.sum;
  sum.resize(static_cast<std::size_t>(own.shape.elements()));
  for (std::size_t r = 0; r < received.size(); ++r) {
    own.context.rank = static_cast<std::uint32_t>(r);
    if (r == 0)
      inner().decode(received[r], own.shape, dtype, sum, nullptr, own.context);
    else
      inner().decode_accumulate(received[r], own.shape, dtype, sum, nullptr, own.context);
  }
}

// One launch, where the inner codec needs no more to add so many.
void TwoStep::sum_on_device(std::span<const std::span<const std::byte>> received, const Chunk& own,
                            DType dtype, const DecodeTarget& rounded) const {
  if (dtype == DType::kFloat32 || std::ssize(received) <= kMostPayloads)
    return inner().decode_on_device(received, own.shape, dtype, rounded, own.context);
  // Further launches add to the output of the first, which must not be rounded yet.
  Scratch scratch(own.context);
  const auto sum = scratch.take<float>(own.shape.elements());
  Context rest = own.context;
  rest.workspace = scratch.rest();
  inner().decode_on_device(received, own.shape, dtype, {sum.data(), DType::kFloat32, false}, rest);
  add_on_device(sum, rounded, rest);
}

void TwoStep::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                               const Shape& shape, DType dtype, const DecodeTarget& target,
                               const Context& context) const {
  TERSOR_CHECK(payloads.size() == 1 || target.dtype == DType::kFloat32,
               "twostep: several messages are added in float32");
  const auto item = static_cast<std::int64_t>(item_bytes(dtype));
  Scratch scratch(context);
  const auto rounded = scratch.take<std::byte>(chunk(shape, context, 0).shape.elements() * item);
  const auto second = scratch.take<std::byte>(
      static_cast<std::int64_t>(part_bytes(shape, dtype, context, 1, 0, nullptr)));
  DecodeTarget to = target;
  for (const auto& payload : payloads) {
    PayloadReader reader(payload, "twostep");
    for (std::uint32_t c = 0; c < std::max(1u, context.ranks); ++c) {
      Chunk part = chunk(shape, context, c);
      part.context.workspace = scratch.rest();
      const std::size_t size = inner().payload_bytes(part.shape, dtype, part.context, 0, nullptr);
      const std::span<const std::byte> first(reader.take(size), size);
      inner().decode_on_device({&first, 1}, part.shape, dtype, {rounded.data(), dtype, false},
                               part.context);
      part.context.rank = c;
      part.context.second_round = true;
      const std::span<const std::byte> sum = second.first(inner().encode(
          0, {rounded.data(), part.shape, dtype}, second.first(size), nullptr, part.context));
      to.data = static_cast<std::byte*>(target.data) +
                static_cast<std::size_t>(part.first) * item_bytes(target.dtype);
      inner().decode_on_device({&sum, 1}, part.shape, dtype, to, part.context);
    }
    reader.expect_end();
    to.is_accumulated = true;
  }
}

void TwoStep::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                     std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, false},
                            context);
  PayloadReader reader(payload, "twostep");
  std::vector<std::byte> second;
  for (std::uint32_t c = 0; c < std::max(1u, context.ranks); ++c) {
    Chunk part = chunk(shape, context, c);
    const std::size_t size = inner().payload_bytes(part.shape, dtype, part.context, 0, nullptr);
    const auto chunk_out = out.subspan(static_cast<std::size_t>(part.first),
                                       static_cast<std::size_t>(part.shape.elements()));
    inner().decode({reader.take(size), size}, part.shape, dtype, chunk_out, nullptr, part.context);
    part.context.rank = c;
    part.context.second_round = true;
    second.resize(size);
    second.resize(encode_sum(chunk_out, part, dtype, second));
    inner().decode(second, part.shape, dtype, chunk_out, nullptr, part.context);
  }
  reader.expect_end();
}

void TwoStep::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                      DType dtype, std::span<float> out, State*, const Context& context) const {
  TERSOR_CHECK(received.size() == std::max(1u, context.ranks),
               "twostep: a second payload from each rank");
  for (std::uint32_t c = 0; c < received.size(); ++c) {
    Chunk part = chunk(shape, context, c);
    part.context.rank = c;
    part.context.second_round = true;
    inner().decode(received[c], part.shape, dtype,
                   out.subspan(static_cast<std::size_t>(part.first),
                               static_cast<std::size_t>(part.shape.elements())),
                   nullptr, part.context);
  }
}

}  // namespace tersor::compressors
