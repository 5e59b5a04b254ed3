// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/fp8/fp8.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "compressors/api/workspace.hpp"
#include "compressors/device/device_plan.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

CodecInfo fp8_info() {
  CodecInfo info;
  info.name = "fp8";
  info.summary = "8-bit floats with a float32 scale per scope";
  info.source = "Micikevicius et al., FP8 Formats for Deep Learning, 2022";
  info.parameters = {
      Parameter::choice("format", {"e4m3", "e5m2"}, "exponent and mantissa bits"),
      Parameter::choice("scope", {"tensor", "token", "group"}, "what one scale covers"),
      Parameter::integer("group", 128, 1, 2147483647, "values of a group along hidden"),
  };
  info.strength = Strength{"format", Strength::Stronger::kNone};
  info.make = [](const Arguments& a) {
    const auto format = a.choice("format") == "e4m3" ? SmallFloat::kE4M3 : SmallFloat::kE5M2;
    return std::make_shared<Fp8>(format, parse_scope(a.choice("scope")), a.integer("group"),
                                 a.canonical());
  };
  info.examples = {"fp8(format=e5m2)", "fp8(scope=token)", "fp8(scope=group,group=24)",
                   "fp8(format=e5m2,scope=group)"};
  info.gates = {{"encode", "fp8", 0.35}, {"decode", "fp8", 0.60}};
  return info;
}

const CodecRegistrar kRegistrar(fp8_info());

}  // namespace

Fp8::Fp8(SmallFloat format, Scope scope, std::int64_t group, std::string canonical)
    : LeafCodec(std::move(canonical), Exchange::kGather),
      format_(format),
      scope_(scope),
      group_(group) {}

Properties Fp8::properties() const {
  Properties p;
  // Half a unit in the last place of the largest binade, 2^-(mantissa bits + 1); a scale that is
  // itself subnormal may lose an element whole.
  p.error_bound_of_absmax = 1.0;
  p.token_local = scope_ != Scope::kTensor;
  p.sample_local = p.token_local;
  return p;
}

LeafCodec::Sizes Fp8::sizes(const Shape& shape, DType) const {
  return {static_cast<std::size_t>(grid(shape).count()) * 4,
          static_cast<std::size_t>(shape.elements())};
}

bool Fp8::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<Fp8Launchers>::is_installed();
}

std::size_t Fp8::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  if (context.device == Device::kCuda) return device_workspace_bytes(grid(shape), shape, 4);
  return std::clamp<std::size_t>(context.ranks, 1, kMostSummed) *
         Scratch::bytes_for<float>(grid(shape).count());
}

void Fp8::write(const TensorView& in, std::byte* out, const Context& context) const {
  if (context.device == Device::kCuda)
    return DeviceTable<Fp8Launchers>::get("fp8").encode(in, {}, grid(in.shape), format_, out,
                                                        context);
  const ScopeGrid scopes = grid(in.shape);
  const std::int64_t n = in.shape.elements();
  auto* codes = reinterpret_cast<std::uint8_t*>(out) + scopes.count() * 4;
  const float largest = largest_of(format_);
  if (const LocalScopes local = local_scopes(scopes, in.shape)) {
    for_each_block_of(local.block, n, context.threads, [&](std::int64_t begin, std::int64_t count) {
      for (std::int64_t first = begin; first < begin + count; first += local.length) {
        float s = 0;
        const bool is_finite = kernels::max_magnitude({in, first}, local.length, s);
        s /= largest;
        if (s == 0.0f) s = 1.0f;
        store(out + 4 * (first / local.length), s);
        kernels::encode_small(format_, {in, first}, local.length, &s, false, is_finite,
                              codes + first);
      }
    });
    return;
  }
  Scratch scratch(context);
  const auto scale = scratch.take<float>(scopes.count());
  const bool is_finite = scope_absmax(in, scopes, scale, context.threads);
  for (float& s : scale) {
    s /= largest;
    if (s == 0.0f) s = 1.0f;
  }
  std::memcpy(out, scale.data(), scale.size_bytes());
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    std::array<float, kBlockElements> spread;
    for_each_scaled(scopes, in.shape, begin, begin + count, scale.data(), spread.data(),
                    [&](std::int64_t first, std::int64_t last, const float* s, bool each) {
                      kernels::encode_small(format_, {in, first}, last - first, s, each, is_finite,
                                            codes + first);
                    });
  });
}

std::size_t Fp8::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                      std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "fp8");
  DeviceTable<Fp8Launchers>::get("fp8").encode(in, feedback, grid(in.shape), format_, out.data(),
                                               context);
  return size;
}

void Fp8::read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                         DType, const DecodeTarget& target, const Context& context) const {
  DeviceTable<Fp8Launchers>::get("fp8").decode(payloads, shape, grid(shape), format_, target,
                                               context);
}

void Fp8::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                       DType, bool is_accumulated, float* out, const Context& context) const {
  const ScopeGrid scopes = grid(shape);
  Scratch scratch(context);
  const auto per_payload = static_cast<std::size_t>(scopes.count());
  const auto scales = scratch.take<float>(scopes.count() * std::ssize(payloads));
  for (std::size_t p = 0; p < payloads.size(); ++p)
    std::memcpy(scales.data() + p * per_payload, payloads[p].data(), per_payload * sizeof(float));
  sum_blocks(
      kBlockElements, shape.elements(), context.threads, payloads.size(), is_accumulated,
      [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
        std::array<float, kBlockElements> spread;
        const auto* codes =
            reinterpret_cast<const std::uint8_t*>(payloads[p].data()) + per_payload * sizeof(float);
        for_each_scaled(scopes, shape, begin, begin + count, scales.data() + p * per_payload,
                        spread.data(),
                        [&](std::int64_t first, std::int64_t last, const float* s, bool each) {
                          kernels::decode_small(format_, codes + first, last - first, s, each, adds,
                                                out + first);
                        });
      });
}

}  // namespace tersor::compressors
