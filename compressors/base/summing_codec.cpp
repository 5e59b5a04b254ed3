// SPDX-License-Identifier: Apache-2.0
#include "compressors/base/summing_codec.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {

void SummingCodec::decode_on_cpu(std::span<const std::span<const std::byte>> payloads,
                                 const Shape& shape, DType dtype, bool is_accumulated, float* out,
                                 const Context& context) const {
  const std::size_t size = payload_bytes(shape, dtype, context, 0, nullptr);
  for (const auto& payload : payloads)
    if (payload.size() != size) expect_payload_bytes(payload, size, canonical());
  if (shape.elements() == 0) return;
  Context sender = context;
  for (std::size_t first = 0; first < payloads.size(); first += kMostSummed) {
    const std::size_t count = std::min(kMostSummed, payloads.size() - first);
    sum_payloads(payloads.subspan(first, count), shape, dtype, is_accumulated || first > 0, out,
                 sender);
    sender.rank += static_cast<std::uint32_t>(count);
  }
}

void SummingCodec::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                          std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, false},
                            context);
  decode_on_cpu({&payload, 1}, shape, dtype, false, out.data(), context);
}

void SummingCodec::decode_accumulate(std::span<const std::byte> payload, const Shape& shape,
                                     DType dtype, std::span<float> out, State*,
                                     const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, true},
                            context);
  decode_on_cpu({&payload, 1}, shape, dtype, true, out.data(), context);
}

void SummingCodec::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                           DType dtype, std::span<float> out, State*,
                           const Context& context) const {
  TERSOR_CHECK(!received.empty(), "nothing to combine");
  if (context.device == Device::kCuda)
    return decode_on_device(received, shape, dtype, {out.data(), DType::kFloat32, false}, context);
  Context sender = context;
  if (received.size() > 1) sender.rank = 0;
  decode_on_cpu(received, shape, dtype, false, out.data(), sender);
}

}  // namespace tersor::compressors
