// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/hierarchical/hierarchical.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/device/device_floats.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo hierarchical_info() {
  CodecInfo info;
  info.name = "hierarchical";
  info.summary = "one codec inside a node, another between nodes";
  info.source = "Wang et al., ZeRO++, 2023; FlashCommunication V2, 2025";
  info.parameters = {
      Parameter::codec("inner", "sums the ranks of a node"),
      Parameter::codec("outer", "sums the nodes' sums"),
  };
  info.make = [](const Arguments& a) {
    return std::make_shared<Hierarchical>(a.codec("inner"), a.codec("outer"), a.canonical());
  };
  info.refuses = [](std::string_view, std::string_view, const Codec& inner) -> std::string {
    if (inner.properties().state == StateKind::kSample)
      return inner.canonical() + " is for pipeline sites, hierarchical for sums";
    return {};
  };
  info.is_outermost = true;
  info.examples = {"hierarchical(none,quantize(bits=4))",
                   "hierarchical(quantize(bits=8),quantize(bits=4,rounding=stochastic))",
                   "hierarchical(cast,ef(topk(ratio=0.1)))"};
  return info;
}

const CodecRegistrar kRegistrar(hierarchical_info());

// The states of the parts of a single message: three at the sender, one at the receiver.
class Parts final : public State {
 public:
  enum Which : std::size_t { kInnerEncode, kInnerDecode, kOuterEncode, kOuterDecode };

  Parts(const Codec& inner, const Codec& outer, const Shape& shape, DType dtype,
        std::uint32_t ranks) {
    parts_[kInnerEncode] = inner.make_state(shape, dtype, ranks);
    parts_[kInnerDecode] = inner.make_state(shape, dtype, ranks);
    parts_[kOuterEncode] = outer.make_state(shape, dtype, ranks);
    parts_[kOuterDecode] = outer.make_state(shape, dtype, ranks);
  }

  State* part(Which which) { return parts_[which].get(); }
  const State* part(Which which) const { return parts_[which].get(); }

  std::size_t bytes() const override {
    std::size_t bytes = 0;
    for (const auto& part : parts_) bytes += part ? part->bytes() : 0;
    return bytes;
  }

  std::vector<std::byte> save() const override {
    std::vector<std::byte> out;
    for (const auto& part : parts_) {
      const std::vector<std::byte> saved = part ? part->save() : std::vector<std::byte>{};
      const auto size = static_cast<std::uint64_t>(saved.size());
      const auto head = std::as_bytes(std::span(&size, 1));
      out.insert(out.end(), head.begin(), head.end());
      out.insert(out.end(), saved.begin(), saved.end());
    }
    return out;
  }

  void move_to(DeviceMemory& memory) override {
    for (const auto& part : parts_)
      if (part) part->move_to(memory);
  }

  void restore(std::span<const std::byte> saved) override {
    PayloadReader reader(saved, "state");
    std::array<std::span<const std::byte>, 4> pieces;
    for (auto& piece : pieces) {
      const auto size = load<std::uint64_t>(reader.take(8));
      piece = {reader.take(size), size};
    }
    reader.expect_end();
    const std::vector<std::byte> before = save();
    try {
      put(pieces);
    } catch (const Error&) {
      restore(before);  // the parts before the one that refused
      throw;
    }
  }

 private:
  void put(std::span<const std::span<const std::byte>, 4> pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (parts_[i])
        parts_[i]->restore(pieces[i]);
      else if (!pieces[i].empty())
        throw Error(ErrorKind::kPayload, "state: not of this codec");
    }
  }

  std::array<std::unique_ptr<State>, 4> parts_;
};

State* part_of(State* state, Parts::Which which) {
  auto* parts = dynamic_cast<Parts*>(state);
  return parts == nullptr ? nullptr : parts->part(which);
}

const State* part_of(const State* state, Parts::Which which) {
  const auto* parts = dynamic_cast<const Parts*>(state);
  return parts == nullptr ? nullptr : parts->part(which);
}

Context outer_context(const Context& context) {
  Context c = context;
  c.second_round = true;
  return c;
}

// A codec of several all-reduce rounds has no single message.
void expect_single(const Codec& codec) {
  if (codec.rounds() > 1 && codec.exchange(0) == Exchange::kAllReduce)
    throw Error(ErrorKind::kUnsupported,
                "hierarchical: " + codec.canonical() +
                    " needs its rounds at a site; a single message cannot show it");
}

}  // namespace

Hierarchical::Hierarchical(std::shared_ptr<const Codec> inner, std::shared_ptr<const Codec> outer,
                           std::string canonical)
    : inner_(std::move(inner)), outer_(std::move(outer)), canonical_(std::move(canonical)) {}

Properties Hierarchical::properties() const {
  const Properties a = inner_->properties();
  const Properties b = outer_->properties();
  Properties p;
  p.bit_exact = a.bit_exact && b.bit_exact;
  p.tolerance = std::max(a.tolerance, b.tolerance);
  p.state = std::max(a.state, b.state);
  p.fixed_size = a.fixed_size && b.fixed_size;
  p.lossless = a.lossless && b.lossless;
  p.token_local = a.token_local && b.token_local;
  p.sample_local = a.sample_local && b.sample_local;
  p.is_expansive = a.is_expansive || b.is_expansive;
  p.deterministic = a.deterministic && b.deterministic;
  p.nonfinite_spread = std::max(a.nonfinite_spread, b.nonfinite_spread);
  return p;
}

std::size_t Hierarchical::payload_bytes(const Shape& shape, DType dtype, const Context& context,
                                        int, const State* state) const {
  return inner_->payload_bytes(shape, dtype, context, 0, part_of(state, Parts::kInnerEncode)) +
         outer_->payload_bytes(shape, dtype, outer_context(context), 0,
                               part_of(state, Parts::kOuterEncode));
}

std::size_t Hierarchical::metadata_bytes(const Shape& shape, DType dtype, const Context& context,
                                         int, const State* state) const {
  return inner_->metadata_bytes(shape, dtype, context, 0, part_of(state, Parts::kInnerEncode)) +
         outer_->metadata_bytes(shape, dtype, outer_context(context), 0,
                                part_of(state, Parts::kOuterEncode));
}

std::size_t Hierarchical::workspace_bytes(const Shape& shape, DType dtype,
                                          const Context& context) const {
  return 2 * Scratch::bytes_for<float>(shape.elements()) +
         std::max(inner_->workspace_bytes(shape, dtype, context),
                  outer_->workspace_bytes(shape, dtype, context));
}

std::unique_ptr<State> Hierarchical::make_state(const Shape& shape, DType dtype,
                                                std::uint32_t ranks) const {
  if (properties().state == StateKind::kNone) return nullptr;
  return std::make_unique<Parts>(*inner_, *outer_, shape, dtype, ranks);
}

std::int64_t Hierarchical::added_parameters(const Shape& shape, std::uint32_t ranks) const {
  return inner_->added_parameters(shape, ranks) + outer_->added_parameters(shape, ranks);
}

double Hierarchical::added_flops(const Shape& shape, std::uint32_t ranks) const {
  return inner_->added_flops(shape, ranks) + outer_->added_flops(shape, ranks);
}

std::size_t Hierarchical::encode(int, const TensorView& in, std::span<std::byte> out, State* state,
                                 const Context& context) const {
  expect_single(*inner_);
  expect_single(*outer_);
  const std::int64_t n = in.shape.elements();
  Scratch scratch(context);
  const auto values = scratch.take<float>(n);
  const auto rounded = scratch.take<std::byte>(n * static_cast<std::int64_t>(item_bytes(in.dtype)));
  Context rest = context;
  rest.workspace = scratch.rest();
  const std::size_t first = inner_->encode(0, in, out, part_of(state, Parts::kInnerEncode), rest);
  const std::span<const std::byte> payload = out.first(first);
  if (context.device == Device::kCuda && !inner_->decodes_with_state()) {
    inner_->decode_on_device({&payload, 1}, in.shape, in.dtype, {rounded.data(), in.dtype, false},
                             rest);
  } else {
    inner_->decode(payload, in.shape, in.dtype, values, part_of(state, Parts::kInnerDecode), rest);
    if (context.device == Device::kCuda)
      add_on_device(values, {rounded.data(), in.dtype, false}, context);
    else
      round_to(in.dtype, values, rounded.data());
  }
  return first + outer_->encode(0, {rounded.data(), in.shape, in.dtype}, out.subspan(first),
                                part_of(state, Parts::kOuterEncode), outer_context(rest));
}

bool Hierarchical::supports(Device device) const {
  return inner_->supports(device) && outer_->supports(device) &&
         (device == Device::kCpu || has_float_launchers());
}

std::span<const std::byte> Hierarchical::outer_part(std::span<const std::byte> payload,
                                                    const Shape& shape, DType dtype,
                                                    const Context& context) const {
  expect_single(*inner_);
  expect_single(*outer_);
  const std::size_t first = inner_->payload_bytes(shape, dtype, context, 0, nullptr);
  if (payload.size() < first)
    throw Error(ErrorKind::kPayload, "hierarchical: payload of " + std::to_string(payload.size()) +
                                         " bytes is shorter than its inner part of " +
                                         std::to_string(first));
  return payload.subspan(first);
}

void Hierarchical::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                          std::span<float> out, State* state, const Context& context) const {
  outer_->decode(outer_part(payload, shape, dtype, context), shape, dtype, out,
                 part_of(state, Parts::kOuterDecode), outer_context(context));
}

void Hierarchical::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                                    const Shape& shape, DType dtype, const DecodeTarget& target,
                                    const Context& context) const {
  std::vector<std::span<const std::byte>> outer;
  for (const auto& payload : payloads) outer.push_back(outer_part(payload, shape, dtype, context));
  outer_->decode_on_device(outer, shape, dtype, target, outer_context(context));
}

}  // namespace tersor::compressors
