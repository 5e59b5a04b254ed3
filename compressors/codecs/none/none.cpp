// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/none/none.hpp"

#include <cstring>

#include "compressors/device/device_floats.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

std::size_t message_bytes(const Shape& shape, DType dtype) {
  return static_cast<std::size_t>(shape.elements()) * item_bytes(dtype);
}

CodecInfo none_info() {
  CodecInfo info;
  info.name = "none";
  info.summary = "the message itself";
  info.source = "common use";
  info.make = [](const Arguments&) { return std::make_shared<None>(); };
  return info;
}

const CodecRegistrar kRegistrar(none_info());

}  // namespace

Properties None::properties() const {
  Properties p;
  p.summable = true;
  p.summable_tolerance = 0x1p-8;  // one rounding of the sum to bfloat16; float32 is exact to 2^-24
  p.unbiased = true;
  p.unbiased_range = "every value";
  p.contraction = [](const Shape&) { return std::optional<double>(1.0); };
  p.error_bound_of_absmax = 0.0;
  p.lossless = true;
  p.token_local = true;
  p.sample_local = true;
  return p;
}

bool None::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<NoneLaunchers>::is_installed();
}

void None::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                            const Shape& shape, DType dtype, const DecodeTarget& target,
                            const Context& context) const {
  for (const auto& payload : payloads)
    expect_payload_bytes(payload, message_bytes(shape, dtype), "none");
  float_launchers().add(payloads, dtype, shape.elements(), target, context.stream);
}

std::size_t None::payload_bytes(const Shape& shape, DType dtype, const Context&, int,
                                const State*) const {
  return message_bytes(shape, dtype);
}

std::size_t None::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                         const Context& context) const {
  expect_room(out, in.bytes(), "none");
  if (context.device == Device::kCuda) {
    DeviceTable<NoneLaunchers>::get("none").copy(in.data, in.bytes(), out.data(), context.stream);
    return in.bytes();
  }
  if (in.bytes() > 0) std::memcpy(out.data(), in.data, in.bytes());
  return in.bytes();
}

std::size_t None::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                       std::span<std::byte> out, const Context& context) const {
  expect_room(out, in.bytes(), "none");
  DeviceTable<NoneLaunchers>::get("none").encode(in, feedback, out.data(), context.stream);
  return in.bytes();
}

void None::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                  std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, false},
                            context);
  expect_payload_bytes(payload, message_bytes(shape, dtype), "none");
  widen(dtype, payload.data(), out.first(static_cast<std::size_t>(shape.elements())));
}

void None::decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                       void* out, State*, const Context& context) const {
  expect_payload_bytes(payload, message_bytes(shape, dtype), "none");
  if (context.device == Device::kCuda)
    return DeviceTable<NoneLaunchers>::get("none").copy(
        payload.data(), payload.size(), static_cast<std::byte*>(out), context.stream);
  if (!payload.empty()) std::memcpy(out, payload.data(), payload.size());
}

void None::decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                             std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, true},
                            context);
  expect_payload_bytes(payload, message_bytes(shape, dtype), "none");
  add_values(payload.data(), dtype, shape.elements(), out.data());
}

}  // namespace tersor::compressors
