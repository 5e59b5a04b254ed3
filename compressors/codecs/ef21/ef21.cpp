// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/ef21/ef21.hpp"

#include <algorithm>
#include <array>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/device/device_floats.hpp"
#include "compressors/device/sparse_plan.hpp"
#include "compressors/host/feedback_kernels.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

CodecInfo ef21_info() {
  CodecInfo info;
  info.name = "ef21";
  info.summary = "sends the difference to the last result, which both sides keep";
  info.source = "Richtarik et al., EF21, NeurIPS 2021";
  info.parameters = {Parameter::codec("codec", "a contractive codec of one round")};
  info.make = [](const Arguments& a) {
    return std::make_shared<Ef21>(a.codec("codec"), a.canonical());
  };
  info.refuses = [](std::string_view, std::string_view name, const Codec& inner) {
    return refuses_feedback(name, inner);
  };
  info.examples = {"ef21(topk(ratio=0.1))", "ef21(quantize(bits=4))", "ef21(none)"};
  return info;
}

const CodecRegistrar kRegistrar(ef21_info());

constexpr std::size_t kSender = 0;  // array of the sender's g; 1 + r is the copy of rank r's

}  // namespace

Ef21::Ef21(std::shared_ptr<const Codec> inner, std::string canonical)
    : Wrapper(std::move(inner), std::move(canonical)) {}

Properties Ef21::properties() const { return stateful_properties(inner(), StateKind::kSite); }

std::unique_ptr<State> Ef21::make_state(const Shape& shape, DType, std::uint32_t ranks) const {
  return std::make_unique<FloatState>(1 + std::size_t{ranks}, shape.elements());
}

std::size_t Ef21::payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                                const State*) const {
  return Wrapper::payload_bytes(shape, dtype, context, round, nullptr);
}

std::size_t Ef21::metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                                 const State*) const {
  return Wrapper::metadata_bytes(shape, dtype, context, round, nullptr);
}

std::size_t Ef21::workspace_bytes(const Shape& shape, DType dtype, const Context& context) const {
  const std::size_t own = context.device == Device::kCuda
                              ? inner().feedback_workspace_bytes(shape, dtype, context)
                              : 3 * Scratch::bytes_for<float>(shape.elements());
  return own + inner_workspace_bytes(shape, dtype, context);
}

std::size_t Ef21::encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                         const Context& context) const {
  if (context.phase == Phase::kEval || in.shape.elements() == 0)
    return inner().encode(round, in, out, nullptr, context);
  const std::span<float> g = float_state(state, "ef21").writable(kSender);
  const std::int64_t n = in.shape.elements();
  if (context.device == Device::kCuda)
    return inner().encode_with_feedback(in, {g.data(), FeedbackArray::kResult}, out, context);
  Scratch scratch(context);
  const auto rounded = scratch.take<std::byte>(n * static_cast<std::int64_t>(item_bytes(in.dtype)));
  const auto difference = scratch.take<float>(n);
  Context rest = context;
  rest.workspace = scratch.rest();
  widen(in.dtype, in.data, difference);
  kernels::subtract_state(difference.data(), g.data(), n);
  round_to(in.dtype, difference, rounded.data());
  const std::size_t size =
      inner().encode(round, {rounded.data(), in.shape, in.dtype}, out, nullptr, rest);
  inner().decode(out.first(size), in.shape, in.dtype, difference, nullptr, rest);
  kernels::advance_state(difference.data(), n, g.data());
  return size;
}

bool Ef21::supports(Device device) const { return inner_supports(device); }

// g += decoded, by the inner codec's kernel, for the payload of each rank from `rank` on; the
// result is the sum of their g, by the same kernel where that can.
void Ef21::receive_on_device(std::span<const std::span<const std::byte>> payloads,
                             std::uint32_t rank, const Shape& shape, DType dtype,
                             const DecodeTarget& target, State* state,
                             const Context& context) const {
  if (context.phase == Phase::kEval || shape.elements() == 0)
    return inner().decode_on_device(payloads, shape, dtype, target, context);
  FloatState& feedback = float_state(state, "ef21");
  const bool is_one_launch = inner().decodes_to_feedback() && target.dtype == DType::kFloat32;
  DecodeTarget sum = target;
  Context sender = context;
  for (std::size_t first = 0; first < payloads.size(); first += kMostPayloads) {
    const auto batch =
        payloads.subspan(first, std::min<std::size_t>(kMostPayloads, payloads.size() - first));
    std::array<float*, kMostPayloads> arrays{};
    const auto used = std::span(arrays).first(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      sender.rank = rank + static_cast<std::uint32_t>(first + i);
      const std::span<float> g = feedback.writable(1 + std::size_t{sender.rank});
      if (!is_one_launch) inner().decode_accumulate(batch[i], shape, dtype, g, nullptr, sender);
      arrays[i] = g.data();
    }
    if (is_one_launch) {
      sum.feedback = used;
      inner().decode_on_device(batch, shape, dtype, sum, context);
    } else {
      float_launchers().publish_feedback(used, shape.elements(), sum, context.stream);
    }
    sum.is_accumulated = true;
  }
}

void Ef21::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                   DType dtype, std::span<float> out, State* state, const Context& context) const {
  if (context.device == Device::kCuda && received.size() > 1)
    return receive_on_device(received, 0, shape, dtype, {out.data(), DType::kFloat32, false}, state,
                             context);
  Wrapper::combine(received, shape, dtype, out, state, context);
}

void Ef21::decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                       void* out, State* state, const Context& context) const {
  if (context.device == Device::kCuda)
    return receive_on_device({&payload, 1}, context.rank, shape, dtype, {out, dtype, false}, state,
                             context);
  Wrapper::decode_bits(payload, shape, dtype, out, state, context);
}

void Ef21::decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                             std::span<float> out, State* state, const Context& context) const {
  if (context.device == Device::kCuda)
    return receive_on_device({&payload, 1}, context.rank, shape, dtype,
                             {out.data(), DType::kFloat32, true}, state, context);
  Wrapper::decode_accumulate(payload, shape, dtype, out, state, context);
}

void Ef21::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                  std::span<float> out, State* state, const Context& context) const {
  if (context.device == Device::kCuda)
    return receive_on_device({&payload, 1}, context.rank, shape, dtype,
                             {out.data(), DType::kFloat32, false}, state, context);
  inner().decode(payload, shape, dtype, out, nullptr, context);
  if (context.phase == Phase::kEval || shape.elements() == 0) return;
  const std::span<float> g = float_state(state, "ef21").writable(1 + std::size_t{context.rank});
  kernels::advance_state(out.data(), shape.elements(), g.data());
}

}  // namespace tersor::compressors
