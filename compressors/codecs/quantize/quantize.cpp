// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/quantize/quantize.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "compressors/api/workspace.hpp"
#include "compressors/codecs/quantize/quantize_kernels.hpp"
#include "compressors/device/device_plan.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

CodecInfo quantize_info() {
  CodecInfo info;
  info.name = "quantize";
  info.summary = "symmetric integers with a float16 scale per scope";
  info.source = "Bian et al., MLSys 2024; Wang et al., NeurIPS 2022";
  info.parameters = {
      Parameter::integer("bits", 8, 1, 8, "bits per value"),
      Parameter::choice("scope", scope_names(), "what one scale covers", "channel"),
      Parameter::integer("group", 128, 1, 2147483647, "values of a group along hidden"),
      Parameter::choice("scale", {"absmax", "rms"}, "largest magnitude, or 2 sqrt(mean x^2)"),
      Parameter::choice("rounding", {"nearest", "stochastic"}, "rounding of the quotient"),
      Parameter::choice("variant", {"corrected", "bian"}, "bian: the published float16 arithmetic"),
  };
  info.strength = Strength{"bits"};
  info.make = [](const Arguments& a) {
    QuantizeOptions o;
    o.bits = static_cast<int>(a.integer("bits"));
    o.scope = parse_scope(a.choice("scope"));
    o.group = a.integer("group");
    o.is_rms = a.choice("scale") == "rms";
    o.is_stochastic = a.choice("rounding") == "stochastic";
    o.is_bian = a.choice("variant") == "bian";
    return std::make_shared<Quantize>(o, a.canonical());
  };
  info.examples = {
      "quantize(bits=1)",
      "quantize(bits=2,scope=token)",
      "quantize(bits=3,scope=group,group=24)",
      "quantize(bits=4,scope=tensor,scale=rms)",
      "quantize(bits=5,scope=sample,scale=rms)",
      "quantize(bits=6,scale=rms)",
      "quantize(bits=7,scope=group,group=32,rounding=stochastic)",
      "quantize(rounding=stochastic)",
      "quantize(bits=2,variant=bian)",
      "quantize(variant=bian)",
  };
  info.gates = {
      {"encode", "quantize", 0.40},         {"encode", "quantize(bits=4)", 0.40},
      {"encode", "quantize(bits=2)", 0.40}, {"encode", "quantize(rounding=stochastic)", 0.12},
      {"decode", "quantize", 0.60},         {"decode", "quantize(bits=4)", 0.60},
      {"decode", "quantize(bits=2)", 0.60}};
  return info;
}

const CodecRegistrar kRegistrar(quantize_info());

}  // namespace

Quantize::Quantize(const QuantizeOptions& options, std::string canonical)
    : options_(options), canonical_(std::move(canonical)) {}

Properties Quantize::properties() const {
  Properties p;
  p.unbiased = options_.is_stochastic && !options_.is_rms && !options_.is_bian;
  if (p.unbiased)
    p.unbiased_range =
        "-s <= x <= (1 - 2^(1-bits)) s, up to the factor s/(s+1e-6) and 2^-16 of a step";
  // Nearest: 0 is a code, so no element loses more than itself, also above the scale's limit of
  // 65,504 and below float16's smallest numbers; README has the tighter bound between them.
  p.error_bound_of_absmax = options_.is_stochastic ? 4.0 : 1.0;
  p.token_local = options_.scope == Scope::kToken || options_.scope == Scope::kGroup;
  p.sample_local = p.token_local || options_.scope == Scope::kSample;
  p.deterministic = !options_.is_stochastic;
  return p;
}

std::size_t Quantize::metadata_bytes(const Shape& shape, DType, const Context&, int,
                                     const State*) const {
  return static_cast<std::size_t>(grid(shape).count()) * 2;
}

std::size_t Quantize::payload_bytes(const Shape& shape, DType, const Context&, int,
                                    const State*) const {
  return static_cast<std::size_t>(grid(shape).count()) * 2 +
         packed_bytes(shape.elements(), options_.bits);
}

bool Quantize::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<QuantizeLaunchers>::is_installed();
}

std::size_t Quantize::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  if (context.device == Device::kCuda)
    return device_workspace_bytes(grid(shape), shape, 4, options_.is_rms);
  const std::int64_t scopes = grid(shape).count();
  std::size_t bytes =
      std::clamp<std::size_t>(context.ranks, 3, kMostSummed) * Scratch::bytes_for<float>(scopes);
  if (options_.is_rms) bytes += mean_workspace_bytes(grid(shape), shape);
  return bytes;
}

bool Quantize::write_scales(const TensorView& in, const ScopeGrid& grid, std::byte* out,
                            std::span<float> divisor, const Context& context) const {
  Scratch scratch(context);
  const std::int64_t scopes = grid.count();
  const auto scale = scratch.take<float>(scopes);
  bool is_bounded = false;
  if (options_.is_rms) {
    Context inner = context;
    inner.workspace = scratch.rest();
    scope_mean(in, grid, true, scale, inner);
    for (float& s : scale) s = 2.0f * std::sqrt(s);
  } else {
    is_bounded = scope_absmax(in, grid, scale, context.threads);
  }
  for (std::size_t i = 0; i < scale.size(); ++i) {
    divisor[i] = write_scale(scale[i], out + 2 * i);
    is_bounded &= scale[i] <= divisor[i] * 2.0f;
  }
  return is_bounded;
}

float Quantize::write_scale(float scale, std::byte* out) const {
  const std::uint16_t half = scale_to_float16(scale);
  store(out, half);
  const float divisor = float16_to_float32(half) + 1e-6f;
  return options_.is_bian ? float16_to_float32(float32_to_float16(divisor)) : divisor;
}

std::size_t Quantize::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                             const Context& context) const {
  const std::int64_t n = in.shape.elements();
  const ScopeGrid scopes = grid(in.shape);
  const std::size_t metadata = static_cast<std::size_t>(scopes.count()) * 2;
  const std::size_t size = metadata + packed_bytes(n, options_.bits);
  expect_room(out, size, "quantize");
  if (n == 0) return 0;
  if (context.device == Device::kCuda) {
    DeviceTable<QuantizeLaunchers>::get("quantize")
        .encode(in, {}, scopes, options_, out.data(), context);
    return size;
  }

  const Purpose purpose = context.second_round ? Purpose::kSecondRounding : Purpose::kRounding;
  const Stream stream = context.random(purpose, true);
  kernels::QuantizeLoop loop;
  loop.half = 1 << (options_.bits - 1);
  loop.is_quotient_float16 = options_.is_bian && in.dtype == DType::kFloat16;
  // Codes of elements begin .. begin+count-1: code(first, last, codes, draws) makes runs of them.
  const auto code_block = [&](std::int64_t begin, std::int64_t count, std::uint8_t* buffer,
                              std::uint16_t* draws, auto&& code) {
    const PackedBlock block(out.data() + metadata, begin, count, options_.bits, buffer);
    if (options_.is_stochastic)
      kernels::fill_draw16(stream, static_cast<std::uint64_t>(context.element_offset + begin),
                           count, draws);
    else
      draws = nullptr;
    code(block.codes(), draws);
    block.pack();
  };
  if (const LocalScopes local = local_scopes(scopes, in.shape); local && !options_.is_rms) {
    for_each_block_of(local.block, n, context.threads, [&](std::int64_t begin, std::int64_t count) {
      std::array<std::uint8_t, kMostLocal> buffer;
      std::array<std::uint16_t, kMostLocal> draws;
      code_block(begin, count, buffer.data(), draws.data(),
                 [&](std::uint8_t* codes, const std::uint16_t* drawn) {
                   for (std::int64_t at = 0; at < count; at += local.length) {
                     const kernels::Input x(in, begin + at);
                     float scale = 0;
                     const bool is_finite = kernels::max_magnitude(x, local.length, scale);
                     const float divisor =
                         write_scale(scale, out.data() + 2 * ((begin + at) / local.length));
                     const float inverse = 1.0f / divisor;
                     kernels::QuantizeLoop own = loop;
                     own.divisor = &divisor;
                     own.inverse = &inverse;
                     own.is_bounded = is_finite && scale <= divisor * 2.0f;
                     own.draws = drawn == nullptr ? nullptr : drawn + at;
                     kernels::quantize(x, local.length, own, codes + at);
                   }
                 });
    });
    return size;
  }

  Scratch scratch(context);
  const auto divisor = scratch.take<float>(scopes.count());
  const auto inverse = scratch.take<float>(scopes.count());
  Context inner = context;
  inner.workspace = scratch.rest();
  loop.is_bounded = write_scales(in, scopes, out.data(), divisor, inner);
  for (std::size_t i = 0; i < divisor.size(); ++i) inverse[i] = 1.0f / divisor[i];

  const bool is_expanded = has_short_runs(scopes);
  loop.is_per_element = is_expanded || !scopes.is_contiguous();
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    std::array<float, kBlockElements> expanded;
    std::array<std::uint8_t, kBlockElements> buffer;
    std::array<std::uint16_t, kBlockElements> draws;
    code_block(begin, count, buffer.data(), draws.data(),
               [&](std::uint8_t* codes, const std::uint16_t* drawn) {
                 const auto run = [&](std::int64_t first, std::int64_t last, const float* divisors,
                                      const float* inverses) {
                   kernels::QuantizeLoop own = loop;
                   own.divisor = divisors;
                   own.inverse = inverses;
                   own.draws = drawn == nullptr ? nullptr : drawn + (first - begin);
                   kernels::quantize({in, first}, last - first, own, codes + (first - begin));
                 };
                 if (is_expanded) {
                   expand_scopes(scopes, in.shape, begin, begin + count, divisor.data(),
                                 expanded.data());
                   run(begin, begin + count, expanded.data(), nullptr);
                   return;
                 }
                 for_each_run(scopes, in.shape, begin, begin + count,
                              [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                                run(first, last, divisor.data() + scope, inverse.data() + scope);
                              });
               });
  });
  return size;
}

std::size_t Quantize::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                           std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "quantize");
  DeviceTable<QuantizeLaunchers>::get("quantize")
      .encode(in, feedback, grid(in.shape), options_, out.data(), context);
  return size;
}

void Quantize::sum_payloads(std::span<const std::span<const std::byte>> payloads,
                            const Shape& shape, DType, bool is_accumulated, float* out,
                            const Context& context) const {
  const ScopeGrid scopes = grid(shape);
  const auto per_payload = static_cast<std::size_t>(scopes.count());
  Scratch scratch(context);
  const auto steps = scratch.take<float>(scopes.count() * std::ssize(payloads));
  kernels::DequantizeLoop loop;
  loop.half = 1 << (options_.bits - 1);
  // (q/half) * s and q * (s/half) are the same number: q has 8 bits, s 11, so both are exact.
  for (std::size_t p = 0; p < payloads.size(); ++p)
    for (std::size_t i = 0; i < per_payload; ++i)
      steps[p * per_payload + i] =
          float16_to_float32(load<std::uint16_t>(payloads[p].data() + 2 * i)) /
          static_cast<float>(loop.half);
  loop.is_float16 = options_.is_bian;
  const bool is_expanded = has_short_runs(scopes);
  loop.is_per_element = is_expanded || !scopes.is_contiguous();
  sum_blocks(kBlockElements, shape.elements(), context.threads, payloads.size(), is_accumulated,
             [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
               std::array<float, kBlockElements> expanded;
               std::array<std::uint8_t, kBlockElements> buffer;
               const std::uint8_t* codes = unpack_block(payloads[p].data() + 2 * per_payload, begin,
                                                        count, options_.bits, buffer.data());
               for_each_scaled(scopes, shape, begin, begin + count, steps.data() + p * per_payload,
                               expanded.data(),
                               [&](std::int64_t first, std::int64_t last, const float* step, bool) {
                                 kernels::DequantizeLoop own = loop;
                                 own.step = step;
                                 own.is_accumulated = adds;
                                 kernels::dequantize(codes + (first - begin), last - first, own,
                                                     out + first);
                               });
             });
}

void Quantize::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                                const Shape& shape, DType dtype, const DecodeTarget& target,
                                const Context& context) const {
  for (const auto& payload : payloads)
    expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, nullptr), "quantize");
  if (shape.elements() == 0) return;
  DeviceTable<QuantizeLaunchers>::get("quantize")
      .decode(payloads, shape, grid(shape), options_, target, context);
}

}  // namespace tersor::compressors
