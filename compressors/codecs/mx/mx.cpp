// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/mx/mx.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "compressors/api/workspace.hpp"
#include "compressors/device/device_plan.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

struct Format {
  const char* name;
  SmallFloat format;
  int emax;
};

constexpr std::array kFormats{
    Format{"fp8_e4m3", SmallFloat::kE4M3, 8}, Format{"fp8_e5m2", SmallFloat::kE5M2, 15},
    Format{"fp6_e2m3", SmallFloat::kE2M3, 2}, Format{"fp6_e3m2", SmallFloat::kE3M2, 4},
    Format{"fp4_e2m1", SmallFloat::kE2M1, 2}, Format{"int8", SmallFloat::kInt8, 0},
};

CodecInfo mx_info() {
  CodecInfo info;
  info.name = "mx";
  info.summary = "microscaling: blocks of 32 with a power-of-two scale";
  info.source = "OCP Microscaling Formats (MX) v1.0";
  std::vector<std::string> names;
  for (const Format& f : kFormats) names.emplace_back(f.name);
  info.parameters = {Parameter::choice("format", names, "element format")};
  info.strength = Strength{"format", Strength::Stronger::kNone};
  info.make = [](const Arguments& a) {
    for (const Format& f : kFormats) {
      if (a.choice("format") == f.name)
        return std::make_shared<Mx>(f.format, f.emax, a.canonical());
    }
    throw Error(ErrorKind::kInternal, "mx: format " + a.choice("format"));
  };
  info.examples = {"mx(format=fp8_e5m2)", "mx(format=fp6_e2m3)", "mx(format=fp6_e3m2)",
                   "mx(format=fp4_e2m1)", "mx(format=int8)"};
  info.gates = {{"encode", "mx", 0.20}, {"encode", "mx(format=fp4_e2m1)", 0.20}};
  return info;
}

const CodecRegistrar kRegistrar(mx_info());

ScopeGrid blocks_of(const Shape& shape) { return {shape, Scope::kGroup, kMxBlock}; }

}  // namespace

Mx::Mx(SmallFloat format, int emax, std::string canonical)
    : LeafCodec(std::move(canonical), Exchange::kGather), format_(format), emax_(emax) {}

Properties Mx::properties() const {
  Properties p;
  // README: the largest values of a block may saturate by up to a quarter (fp4), the others lose
  // half a unit in the last place; tiny blocks may lose an element whole.
  p.error_bound_of_absmax = 1.0;
  p.token_local = true;
  p.sample_local = true;
  return p;
}

LeafCodec::Sizes Mx::sizes(const Shape& shape, DType) const {
  return {static_cast<std::size_t>(blocks_of(shape).count()),
          packed_bytes(shape.elements(), width())};
}

bool Mx::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<MxLaunchers>::is_installed();
}

std::size_t Mx::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  if (context.device == Device::kCuda) return device_workspace_bytes(blocks_of(shape), shape, 4);
  return std::clamp<std::size_t>(context.ranks, 1, kMostSummed) *
         Scratch::bytes_for<float>(blocks_of(shape).count());
}

void Mx::write(const TensorView& in, std::byte* out, const Context& context) const {
  if (context.device == Device::kCuda)
    return DeviceTable<MxLaunchers>::get("mx").encode(in, {}, blocks_of(in.shape), format_, emax_,
                                                      out, context);
  const ScopeGrid groups = blocks_of(in.shape);
  const std::int64_t n = in.shape.elements();
  std::byte* to = out + groups.count();
  if (in.shape.hidden % kMxBlock == 0) {
    auto* exponents = reinterpret_cast<std::uint8_t*>(out);
    for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
      std::array<std::uint8_t, kBlockElements> buffer;
      const PackedBlock block(to, begin, count, width(), buffer.data());
      kernels::encode_mx(format_, {in, begin}, count / kMxBlock, emax_,
                         exponents + begin / kMxBlock, block.codes());
      block.pack();
    });
    return;
  }
  Scratch scratch(context);
  const auto scale = scratch.take<float>(groups.count());
  scope_absmax(in, groups, scale, context.threads);
  for (std::size_t b = 0; b < scale.size(); ++b) {
    const std::uint8_t stored = mx_exponent(bits_of(scale[b]), emax_);
    store(out + b, stored);
    scale[b] = mx_scale(stored);
  }
  std::array<float, kBlockElements> buffer;
  std::array<std::uint8_t, kBlockElements> codes;
  std::array<float, kBlockElements> expanded;
  for (std::int64_t begin = 0; begin < n; begin += kBlockElements) {
    const std::int64_t count = std::min(kBlockElements, n - begin);
    const float* x = load_block(in, begin, count, buffer.data());
    expand_scopes(groups, in.shape, begin, begin + count, scale.data(), expanded.data());
    kernels::encode_small(format_, x, count, expanded.data(), true, false, codes.data());
    kernels::pack_bits(codes.data(), count, width(), to + begin / 8 * width());
  }
}

std::size_t Mx::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                     std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "mx");
  DeviceTable<MxLaunchers>::get("mx").encode(in, feedback, blocks_of(in.shape), format_, emax_,
                                             out.data(), context);
  return size;
}

void Mx::read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType, const DecodeTarget& target, const Context& context) const {
  DeviceTable<MxLaunchers>::get("mx").decode(payloads, shape, blocks_of(shape), format_, emax_,
                                             target, context);
}

void Mx::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                      DType, bool is_accumulated, float* out, const Context& context) const {
  const ScopeGrid groups = blocks_of(shape);
  Scratch scratch(context);
  const auto per_payload = static_cast<std::size_t>(groups.count());
  const auto scales = scratch.take<float>(groups.count() * std::ssize(payloads));
  for (std::size_t p = 0; p < payloads.size(); ++p)
    for (std::size_t b = 0; b < per_payload; ++b)
      scales[p * per_payload + b] = mx_scale(load<std::uint8_t>(payloads[p].data() + b));
  sum_blocks(
      kBlockElements, shape.elements(), context.threads, payloads.size(), is_accumulated,
      [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
        std::array<float, kBlockElements> expanded;
        std::array<std::uint8_t, kBlockElements> buffer;
        const float* scale = scales.data() + p * per_payload;
        const std::uint8_t* codes =
            unpack_block(payloads[p].data() + per_payload, begin, count, width(), buffer.data());
        if (shape.hidden % kMxBlock == 0) {
          kernels::decode_mx(format_, codes, count / kMxBlock, scale + begin / kMxBlock, adds,
                             out + begin);
          return;
        }
        expand_scopes(groups, shape, begin, begin + count, scale, expanded.data());
        kernels::decode_small(format_, codes, count, expanded.data(), true, adds, out + begin);
      });
}

}  // namespace tersor::compressors
