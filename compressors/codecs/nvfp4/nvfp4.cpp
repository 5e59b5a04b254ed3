// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/nvfp4/nvfp4.hpp"

#include <algorithm>
#include <array>

#include "compressors/api/workspace.hpp"
#include "compressors/device/device_plan.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/host/minifloat_kernels.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

CodecInfo nvfp4_info() {
  CodecInfo info;
  info.name = "nvfp4";
  info.summary = "4-bit floats, an E4M3 scale per 16 and one for the tensor";
  info.source = "NVIDIA, Pretraining LLMs with NVFP4, 2025";
  info.make = [](const Arguments& a) { return std::make_shared<NvFp4>(a.canonical()); };
  return info;
}

const CodecRegistrar kRegistrar(nvfp4_info());

ScopeGrid blocks_of(const Shape& shape) { return {shape, Scope::kGroup, kNvFp4Block}; }

}  // namespace

NvFp4::NvFp4(std::string canonical) : LeafCodec(std::move(canonical), Exchange::kGather) {}

Properties NvFp4::properties() const {
  Properties p;
  p.error_bound_of_absmax = 1.0;  // README has the bound per block
  return p;
}

LeafCodec::Sizes NvFp4::sizes(const Shape& shape, DType) const {
  return {4 + static_cast<std::size_t>(blocks_of(shape).count()),
          packed_bytes(shape.elements(), 4)};
}

bool NvFp4::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<NvFp4Launchers>::is_installed();
}

std::size_t NvFp4::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  if (context.device == Device::kCuda)
    return device_workspace_bytes(blocks_of(shape), shape, 4, false, true);
  return std::clamp<std::size_t>(context.ranks, 1, kMostSummed) *
         Scratch::bytes_for<float>(blocks_of(shape).count());
}

void NvFp4::write(const TensorView& in, std::byte* out, const Context& context) const {
  if (context.device == Device::kCuda)
    return DeviceTable<NvFp4Launchers>::get("nvfp4").encode(in, {}, blocks_of(in.shape), out,
                                                            context);
  const ScopeGrid groups = blocks_of(in.shape);
  const std::int64_t n = in.shape.elements();
  float t = 0;
  scope_absmax(in, {in.shape, Scope::kTensor}, {&t, 1}, context.threads);
  t /= 2688.0f;
  if (t == 0.0f) t = 1.0f;
  store(out, t);
  out += 4;
  std::byte* to = out + groups.count();
  if (in.shape.hidden % kNvFp4Block == 0) {
    auto* scale_codes = reinterpret_cast<std::uint8_t*>(out);
    for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
      std::array<std::uint8_t, kBlockElements> buffer;
      const PackedBlock block(to, begin, count, 4, buffer.data());
      kernels::encode_nvfp4({in, begin}, count / kNvFp4Block, t, scale_codes + begin / kNvFp4Block,
                            block.codes());
      block.pack();
    });
    return;
  }
  Scratch scratch(context);
  const auto scale = scratch.take<float>(groups.count());
  scope_absmax(in, groups, scale, context.threads);
  for (std::size_t b = 0; b < scale.size(); ++b) {
    const std::uint32_t code = E4M3::encode((scale[b] / 6.0f) / t);
    store(out + b, static_cast<std::uint8_t>(code));
    scale[b] = E4M3::decode(code) * t;
  }
  std::array<float, kBlockElements> buffer;
  std::array<std::uint8_t, kBlockElements> codes;
  std::array<float, kBlockElements> expanded;
  for (std::int64_t begin = 0; begin < n; begin += kBlockElements) {
    const std::int64_t count = std::min(kBlockElements, n - begin);
    const float* x = load_block(in, begin, count, buffer.data());
    expand_scopes(groups, in.shape, begin, begin + count, scale.data(), expanded.data());
    kernels::encode_small(SmallFloat::kE2M1, x, count, expanded.data(), true, false, codes.data());
    kernels::pack_bits(codes.data(), count, 4, to + begin / 2);
  }
}

std::size_t NvFp4::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                        std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "nvfp4");
  DeviceTable<NvFp4Launchers>::get("nvfp4").encode(in, feedback, blocks_of(in.shape), out.data(),
                                                   context);
  return size;
}

void NvFp4::read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                           DType, const DecodeTarget& target, const Context& context) const {
  DeviceTable<NvFp4Launchers>::get("nvfp4").decode(payloads, shape, blocks_of(shape), target,
                                                   context);
}

void NvFp4::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                         DType, bool is_accumulated, float* out, const Context& context) const {
  const ScopeGrid groups = blocks_of(shape);
  Scratch scratch(context);
  const auto per_payload = static_cast<std::size_t>(groups.count());
  const auto scales = scratch.take<float>(groups.count() * std::ssize(payloads));
  for (std::size_t p = 0; p < payloads.size(); ++p) {
    const float t = load<float>(payloads[p].data());
    kernels::decode_small(SmallFloat::kE4M3,
                          reinterpret_cast<const std::uint8_t*>(payloads[p].data() + 4),
                          groups.count(), &t, false, false, scales.data() + p * per_payload);
  }
  sum_blocks(kBlockElements, shape.elements(), context.threads, payloads.size(), is_accumulated,
             [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
               std::array<float, kBlockElements> expanded;
               std::array<std::uint8_t, kBlockElements> buffer;
               const float* scale = scales.data() + p * per_payload;
               const std::uint8_t* codes = unpack_block(payloads[p].data() + 4 + per_payload, begin,
                                                        count, 4, buffer.data());
               if (shape.hidden % kNvFp4Block == 0) {
                 kernels::decode_nvfp4(codes, count / kNvFp4Block, scale + begin / kNvFp4Block,
                                       adds, out + begin);
                 return;
               }
               expand_scopes(groups, shape, begin, begin + count, scale, expanded.data());
               kernels::decode_small(SmallFloat::kE2M1, codes, count, expanded.data(), true, adds,
                                     out + begin);
             });
}

}  // namespace tersor::compressors
