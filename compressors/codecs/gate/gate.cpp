// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/gate/gate.hpp"

#include "compressors/codecs/none/none.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

CodecInfo gate_info() {
  CodecInfo info;
  info.name = "gate";
  info.summary = "sends messages below a size raw";
  info.source = "common use";
  info.parameters = {
      Parameter::codec("codec", "what compresses messages of min_bytes and more"),
      Parameter::integer("min_bytes", 65536, 0, std::int64_t{1} << 62,
                         "raw bytes from which the codec is used"),
      Parameter::boolean("force", false, "use the codec for every message"),
  };
  info.make = [](const Arguments& a) {
    return std::make_shared<Gate>(a.codec("codec"), a.integer("min_bytes"), a.boolean("force"),
                                  a.canonical());
  };
  info.is_outermost = true;
  info.is_transparent = true;
  info.examples = {"gate(quantize(bits=4))", "gate(quantize(bits=4),min_bytes=0)",
                   "gate(topk(ratio=0.1),force=true)", "gate(ef(quantize(bits=2)),min_bytes=1024)"};
  return info;
}

const CodecRegistrar kRegistrar(gate_info());

}  // namespace

Gate::Gate(std::shared_ptr<const Codec> inner, std::int64_t min_bytes, bool is_forced,
           std::string canonical)
    : Wrapper(std::move(inner), std::move(canonical)),
      min_bytes_(min_bytes),
      is_forced_(is_forced),
      none_(std::make_shared<None>()) {}

const Codec& Gate::effective(const Shape& shape, DType dtype) const {
  const std::int64_t bytes = shape.elements() * static_cast<std::int64_t>(item_bytes(dtype));
  return is_forced_ || bytes >= min_bytes_ ? inner().effective(shape, dtype) : *none_;
}

Properties Gate::properties() const {
  Properties p = inner().properties();
  // A closed gate loses nothing: what holds for the inner codec holds for both.
  p.lossless = inner().properties().lossless;
  return p;
}

std::size_t Gate::payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                                const State* state) const {
  return effective(shape, dtype).payload_bytes(shape, dtype, context, round, state);
}

std::size_t Gate::metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                                 const State* state) const {
  return effective(shape, dtype).metadata_bytes(shape, dtype, context, round, state);
}

std::size_t Gate::part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             std::uint32_t to, const State* state) const {
  return effective(shape, dtype).part_bytes(shape, dtype, context, round, to, state);
}

std::size_t Gate::workspace_bytes(const Shape& shape, DType dtype, const Context& context) const {
  return effective(shape, dtype).workspace_bytes(shape, dtype, context);
}

std::unique_ptr<State> Gate::make_state(const Shape& shape, DType dtype,
                                        std::uint32_t ranks) const {
  return effective(shape, dtype).make_state(shape, dtype, ranks);
}

std::size_t Gate::encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                         const Context& context) const {
  return effective(in.shape, in.dtype).encode(round, in, out, state, context);
}

void Gate::absorb(int round, std::span<const std::span<const std::byte>> received,
                  const Shape& shape, DType dtype, State* state, const Context& context) const {
  effective(shape, dtype).absorb(round, received, shape, dtype, state, context);
}

void Gate::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                  std::span<float> out, State* state, const Context& context) const {
  effective(shape, dtype).decode(payload, shape, dtype, out, state, context);
}

void Gate::decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                       void* out, State* state, const Context& context) const {
  effective(shape, dtype).decode_bits(payload, shape, dtype, out, state, context);
}

void Gate::decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                             std::span<float> out, State* state, const Context& context) const {
  effective(shape, dtype).decode_accumulate(payload, shape, dtype, out, state, context);
}

void Gate::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                   DType dtype, std::span<float> out, State* state, const Context& context) const {
  effective(shape, dtype).combine(received, shape, dtype, out, state, context);
}

bool Gate::supports(Device device) const { return inner_supports(device); }

void Gate::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                            const Shape& shape, DType dtype, const DecodeTarget& target,
                            const Context& context) const {
  effective(shape, dtype).decode_on_device(payloads, shape, dtype, target, context);
}

}  // namespace tersor::compressors
