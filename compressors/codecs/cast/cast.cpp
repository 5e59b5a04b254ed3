// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/cast/cast.hpp"

#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo cast_info() {
  CodecInfo info;
  info.name = "cast";
  info.summary = "16-bit floats, rounded to nearest even";
  info.source = "IEEE 754 binary16; bfloat16";
  info.parameters = {Parameter::choice("format", {"bf16", "fp16"}, "16-bit format on the wire")};
  info.strength = Strength{"format", Strength::Stronger::kNone};
  info.reference = "cast";
  info.make = [](const Arguments& a) {
    const DType format = a.choice("format") == "bf16" ? DType::kBFloat16 : DType::kFloat16;
    return std::make_shared<Cast>(format, a.canonical());
  };
  info.examples = {"cast(format=fp16)"};
  return info;
}

const CodecRegistrar kRegistrar(cast_info());

}  // namespace

Cast::Cast(DType format, std::string canonical)
    : format_(format), canonical_(std::move(canonical)) {}

Properties Cast::properties() const {
  Properties p;
  p.summable = true;
  p.summable_tolerance = format_ == DType::kBFloat16 ? 0x1p-7 : 0x1p-10;  // one rounding a rank
  p.token_local = true;
  p.sample_local = true;
  // float16 saturates at 65,504: an element above loses at most itself.
  p.error_bound_of_absmax = format_ == DType::kBFloat16 ? 0x1p-8 : 1.0;
  return p;
}

bool Cast::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<CastLaunchers>::is_installed();
}

std::size_t Cast::payload_bytes(const Shape& shape, DType, const Context&, int,
                                const State*) const {
  return static_cast<std::size_t>(shape.elements()) * item_bytes(format_);
}

std::size_t Cast::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                         const Context& context) const {
  const std::int64_t n = in.shape.elements();
  const std::size_t size = static_cast<std::size_t>(n) * item_bytes(format_);
  expect_room(out, size, "cast");
  if (context.device == Device::kCuda) {
    DeviceTable<CastLaunchers>::get("cast").encode(in, {}, format_, out.data(), context.stream);
    return size;
  }
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    round_block(in, begin, count, format_, out.data() + 2 * begin);
  });
  return size;
}

std::size_t Cast::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                       std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "cast");
  DeviceTable<CastLaunchers>::get("cast").encode(in, feedback, format_, out.data(), context.stream);
  return size;
}

void Cast::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                            const Shape& shape, DType, const DecodeTarget& target,
                            const Context& context) const {
  const std::int64_t n = shape.elements();
  for (const auto& payload : payloads)
    expect_payload_bytes(payload, static_cast<std::size_t>(n) * item_bytes(format_), "cast");
  DeviceTable<CastLaunchers>::get("cast").decode(payloads, format_, n, target, context.stream);
}

void Cast::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType, bool is_accumulated, float* out, const Context& context) const {
  sum_blocks(kBlockElements, shape.elements(), context.threads, payloads.size(), is_accumulated,
             [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
               const std::byte* from = payloads[p].data() + 2 * begin;
               if (adds)
                 add_values(from, format_, count, out + begin);
               else
                 widen_values(from, format_, count, out + begin);
             });
}

}  // namespace tersor::compressors
