// SPDX-License-Identifier: Apache-2.0
// The defaults of the codec interface, which the loops of host/ and the launchers of device/ run.
#include <cstring>

#include "common/error.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/device/device_floats.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/kernels.hpp"

namespace tersor::compressors {
namespace {

// On a device: decode() to scratch, then add and round.
void decode_by_state(const Codec& codec, std::span<const std::byte> payload, const Shape& shape,
                     DType dtype, const DecodeTarget& target, State* state,
                     const Context& context) {
  Scratch scratch(context);
  const auto values = scratch.take<float>(shape.elements());
  Context inner = context;
  inner.workspace = scratch.rest();
  codec.decode(payload, shape, dtype, values, state, inner);
  add_on_device(values, target, context);
}

}  // namespace

DType Codec::reduce_dtype(int, DType dtype) const { return dtype; }

std::size_t Codec::part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                              std::uint32_t, const State* state) const {
  return payload_bytes(shape, dtype, context, round, state);
}

std::size_t Codec::workspace_bytes(const Shape& shape, DType, const Context&) const {
  return Scratch::bytes_for<float>(shape.elements());
}

std::unique_ptr<State> Codec::make_state(const Shape&, DType, std::uint32_t) const {
  return nullptr;
}

std::int64_t Codec::added_parameters(const Shape&, std::uint32_t) const { return 0; }
double Codec::added_flops(const Shape&, std::uint32_t) const { return 0; }

void Codec::absorb(int round, std::span<const std::span<const std::byte>>, const Shape&, DType,
                   State*, const Context&) const {
  TERSOR_CHECK(false, canonical() + " has no round after " + std::to_string(round));
}

std::size_t Codec::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                        std::span<std::byte> out, const Context& context) const {
  const auto n = static_cast<std::size_t>(in.shape.elements());
  Scratch scratch(context);
  const auto rounded = scratch.take<std::byte>(static_cast<std::int64_t>(n * item_bytes(in.dtype)));
  float_launchers().split_feedback(in, feedback, rounded.data(), context.stream);
  Context rest = context;
  rest.workspace = scratch.rest();
  const std::size_t size = encode(0, {rounded.data(), in.shape, in.dtype}, out, nullptr, rest);
  decode_accumulate(out.first(size), in.shape, in.dtype, {feedback.values, n}, nullptr, rest);
  return size;
}

std::size_t Codec::feedback_workspace_bytes(const Shape& shape, DType dtype, const Context&) const {
  return Scratch::bytes_for<std::byte>(shape.elements() *
                                       static_cast<std::int64_t>(item_bytes(dtype)));
}

void Codec::decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                        void* out, State* state, const Context& context) const {
  if (context.device == Device::kCuda) {
    const DecodeTarget target{out, dtype, false};
    if (!decodes_with_state())
      return decode_on_device({&payload, 1}, shape, dtype, target, context);
    return decode_by_state(*this, payload, shape, dtype, target, state, context);
  }
  if (dtype == DType::kFloat32) {
    const std::span<float> values(static_cast<float*>(out),
                                  static_cast<std::size_t>(shape.elements()));
    decode(payload, shape, dtype, values, state, context);
    round_to(dtype, values, out);
    return;
  }
  Scratch scratch(context);
  const auto values = scratch.take<float>(shape.elements());
  Context inner = context;
  inner.workspace = scratch.rest();
  decode(payload, shape, dtype, values, state, inner);
  round_to(dtype, values, out);
}

void Codec::decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                              std::span<float> out, State* state, const Context& context) const {
  if (context.device == Device::kCuda) {
    const DecodeTarget target{out.data(), DType::kFloat32, true};
    if (!decodes_with_state())
      return decode_on_device({&payload, 1}, shape, dtype, target, context);
    return decode_by_state(*this, payload, shape, dtype, target, state, context);
  }
  Scratch scratch(context);
  const auto values = scratch.take<float>(shape.elements());
  Context inner = context;
  inner.workspace = scratch.rest();
  decode(payload, shape, dtype, values, state, inner);
  kernels::add(values.data(), std::ssize(values), out.data());
}

void Codec::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                    DType dtype, std::span<float> out, State* state, const Context& context) const {
  TERSOR_CHECK(!received.empty(), canonical() + ": nothing to combine");
  if (context.device == Device::kCuda && !decodes_with_state())
    return decode_on_device(received, shape, dtype, {out.data(), DType::kFloat32, false}, context);
  Context sender = context;
  if (received.size() == 1) return decode(received[0], shape, dtype, out, state, sender);
  for (std::size_t rank = 0; rank < received.size(); ++rank) {
    sender.rank = static_cast<std::uint32_t>(rank);
    if (rank == 0)
      decode(received[rank], shape, dtype, out, state, sender);
    else
      decode_accumulate(received[rank], shape, dtype, out, state, sender);
  }
}

void Codec::decode_on_device(std::span<const std::span<const std::byte>>, const Shape&, DType,
                             const DecodeTarget&, const Context&) const {
  throw Error(ErrorKind::kUnsupported, canonical() + " does not decode on a device");
}

void round_to(DType dtype, std::span<const float> in, void* out) {
  round_values(in.data(), dtype, std::ssize(in), static_cast<std::byte*>(out));
}

void widen(DType dtype, const void* in, std::span<float> out) {
  if (out.empty()) return;
  if (dtype == DType::kFloat32) {
    std::memmove(out.data(), in, out.size() * sizeof(float));
    return;
  }
  widen_values(static_cast<const std::byte*>(in), dtype, std::ssize(out), out.data());
}

}  // namespace tersor::compressors
