// SPDX-License-Identifier: Apache-2.0
#include "compressors/base/leaf_codec.hpp"

#include "common/error.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {

LeafCodec::LeafCodec(std::string canonical, Exchange exchange)
    : canonical_(std::move(canonical)), exchange_(exchange) {}

std::size_t LeafCodec::payload_bytes(const Shape& shape, DType dtype, const Context&, int,
                                     const State*) const {
  if (shape.elements() == 0) return 0;
  const Sizes s = sizes(shape, dtype);
  return s.metadata + s.codes;
}

std::size_t LeafCodec::metadata_bytes(const Shape& shape, DType dtype, const Context&, int,
                                      const State*) const {
  return shape.elements() == 0 ? 0 : sizes(shape, dtype).metadata;
}

std::size_t LeafCodec::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                              const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, canonical_);
  if (size > 0) write(in, out.data(), context);
  return size;
}

void LeafCodec::read(const std::byte*, const Shape&, DType, bool, float*, const Context&) const {
  TERSOR_CHECK(false, canonical_ + " reads its payloads together");
}

void LeafCodec::sum_payloads(std::span<const std::span<const std::byte>> payloads,
                             const Shape& shape, DType dtype, bool is_accumulated, float* out,
                             const Context& context) const {
  Context sender = context;
  for (std::size_t p = 0; p < payloads.size(); ++p, ++sender.rank)
    read(payloads[p].data(), shape, dtype, is_accumulated || p > 0, out, sender);
}

void LeafCodec::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                                 const Shape& shape, DType dtype, const DecodeTarget& target,
                                 const Context& context) const {
  for (const auto& payload : payloads)
    expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, nullptr), canonical_);
  if (shape.elements() > 0) read_on_device(payloads, shape, dtype, target, context);
}

void LeafCodec::read_on_device(std::span<const std::span<const std::byte>>, const Shape&, DType,
                               const DecodeTarget&, const Context&) const {
  throw Error(ErrorKind::kUnsupported, canonical_ + " does not decode on a device");
}

Stream LeafCodec::rounding_stream(const Context& context) {
  return context.random(context.second_round ? Purpose::kSecondRounding : Purpose::kRounding, true);
}

}  // namespace tersor::compressors
