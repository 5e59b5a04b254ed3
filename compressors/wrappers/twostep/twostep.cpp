// SPDX-License-Identifier: Apache-2.0
#include "compressors/wrappers/twostep/twostep.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "compressors/api/bits.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/wrappers/ef/ef.hpp"

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
  std::size_t bytes() const override { return sum.size() * sizeof(float); }
  std::vector<std::byte> save() const override { return {}; }
  void restore(std::span<const std::byte> saved) override {
    if (!saved.empty()) throw Error(ErrorKind::kPayload, "twostep: keeps no state");
  }
  std::vector<float> sum;  ///< of the own chunk, in float32
};

SumState& sum_state(State* state) {
  auto* own = dynamic_cast<SumState*>(state);
  TERSOR_CHECK(own != nullptr, "twostep needs the state that make_state gave");
  return *own;
}

}  // namespace

// A chunk is a tensor {1, rows, hidden} whose draws go on from its first element.
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
         2 * inner().workspace_bytes(largest.shape, dtype, largest.context) +
         Scratch::bytes_for<std::byte>(
             static_cast<std::int64_t>(part_bytes(shape, dtype, context, 1, 0, nullptr)));
}

std::unique_ptr<State> TwoStep::make_state(const Shape&, DType, std::uint32_t) const {
  return std::make_unique<SumState>();
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
    const SumState& kept = sum_state(state);
    TERSOR_CHECK(std::ssize(kept.sum) == own.shape.elements(),
                 "twostep: round 1 follows absorb(0)");
    return encode_sum(kept.sum, own, in.dtype, out);
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
  std::vector<float>& sum = sum_state(state).sum;
  sum.resize(static_cast<std::size_t>(own.shape.elements()));
  for (std::size_t r = 0; r < received.size(); ++r) {
    own.context.rank = static_cast<std::uint32_t>(r);
    if (r == 0)
      inner().decode(received[r], own.shape, dtype, sum, nullptr, own.context);
    else
      inner().decode_accumulate(received[r], own.shape, dtype, sum, nullptr, own.context);
  }
}

void TwoStep::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                     std::span<float> out, State*, const Context& context) const {
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
