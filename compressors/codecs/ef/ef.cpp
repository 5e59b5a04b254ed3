// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/ef/ef.hpp"

#include <algorithm>

#include "compressors/host/feedback_kernels.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

CodecInfo ef_info() {
  CodecInfo info;
  info.name = "ef";
  info.summary = "error feedback: what one message lost is added to the next";
  info.source = "Seide et al., Interspeech 2014; Karimireddy et al., ICML 2019";
  info.parameters = {Parameter::codec("codec", "a contractive codec of one round")};
  info.make = [](const Arguments& a) {
    return std::make_shared<ErrorFeedback>(a.codec("codec"), a.canonical());
  };
  info.refuses = [](std::string_view, std::string_view name, const Codec& inner) {
    return refuses_feedback(name, inner);
  };
  info.examples = {"ef(topk(ratio=0.1))", "ef(quantize(bits=2))", "ef(cast)",
                   "ef(randk(ratio=0.25))", "ef(hadamard(quantize(bits=3)))"};
  return info;
}

const CodecRegistrar kRegistrar(ef_info());

}  // namespace

ErrorFeedback::ErrorFeedback(std::shared_ptr<const Codec> inner, std::string canonical)
    : Wrapper(std::move(inner), std::move(canonical)) {}

Properties ErrorFeedback::properties() const {
  Properties p = stateful_properties(inner(), StateKind::kSite);
  p.summable = inner().properties().summable;
  p.summable_tolerance = inner().properties().summable_tolerance;
  return p;
}

std::unique_ptr<State> ErrorFeedback::make_state(const Shape& shape, DType, std::uint32_t) const {
  return std::make_unique<FloatState>(1, shape.elements(), FeedbackForm::kNegatives);
}

std::size_t ErrorFeedback::payload_bytes(const Shape& shape, DType dtype, const Context& context,
                                         int round, const State*) const {
  return Wrapper::payload_bytes(shape, dtype, context, round, nullptr);
}

std::size_t ErrorFeedback::metadata_bytes(const Shape& shape, DType dtype, const Context& context,
                                          int round, const State*) const {
  return Wrapper::metadata_bytes(shape, dtype, context, round, nullptr);
}

std::size_t ErrorFeedback::workspace_bytes(const Shape& shape, DType dtype,
                                           const Context& context) const {
  const std::size_t own = context.device == Device::kCuda
                              ? inner().feedback_workspace_bytes(shape, dtype, context)
                              : 3 * Scratch::bytes_for<float>(shape.elements());
  return own + inner_workspace_bytes(shape, dtype, context);
}

std::size_t ErrorFeedback::encode(int round, const TensorView& in, std::span<std::byte> out,
                                  State* state, const Context& context) const {
  if (context.phase == Phase::kEval || in.shape.elements() == 0)
    return inner().encode(round, in, out, nullptr, context);
  FloatState& feedback = float_state(state, "ef");
  const std::span<float> error = feedback.writable(0);
  const std::int64_t n = in.shape.elements();
  if (context.device == Device::kCuda)
    return inner().encode_with_feedback(in, {error.data(), FeedbackArray::kNegativeError}, out,
                                        context);
  Scratch scratch(context);
  const auto rounded = scratch.take<std::byte>(n * static_cast<std::int64_t>(item_bytes(in.dtype)));
  const auto total = scratch.take<float>(n);
  const auto decoded = scratch.take<float>(n);
  Context rest = context;
  rest.workspace = scratch.rest();
  widen(in.dtype, in.data, total);
  kernels::add_state(total.data(), error.data(), n);
  round_to(in.dtype, total, rounded.data());
  const std::size_t size =
      inner().encode(round, {rounded.data(), in.shape, in.dtype}, out, nullptr, rest);
  inner().decode(out.first(size), in.shape, in.dtype, decoded, nullptr, rest);
  kernels::store_difference(total.data(), decoded.data(), n, error.data());
  return size;
}

bool ErrorFeedback::supports(Device device) const { return inner_supports(device); }

void ErrorFeedback::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                                     const Shape& shape, DType dtype, const DecodeTarget& target,
                                     const Context& context) const {
  inner().decode_on_device(payloads, shape, dtype, target, context);
}

void ErrorFeedback::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                           std::span<float> out, State*, const Context& context) const {
  inner().decode(payload, shape, dtype, out, nullptr, context);
}

void ErrorFeedback::decode_accumulate(std::span<const std::byte> payload, const Shape& shape,
                                      DType dtype, std::span<float> out, State*,
                                      const Context& context) const {
  inner().decode_accumulate(payload, shape, dtype, out, nullptr, context);
}

void ErrorFeedback::combine(std::span<const std::span<const std::byte>> received,
                            const Shape& shape, DType dtype, std::span<float> out, State*,
                            const Context& context) const {
  inner().combine(received, shape, dtype, out, nullptr, context);
}

}  // namespace tersor::compressors
