// SPDX-License-Identifier: Apache-2.0
#include "compressors/quantize/quantize.hpp"

#include <array>
#include <cmath>

#include "compressors/api/bits.hpp"
#include "compressors/api/blocks.hpp"
#include "compressors/api/device_plan.hpp"
#include "compressors/api/device_table.hpp"
#include "compressors/api/floats.hpp"
#include "compressors/api/kernels.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/quantize/quantize_kernels.hpp"

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
  std::size_t bytes = 2 * Scratch::bytes_for<float>(scopes);
  if (options_.is_rms) bytes += mean_workspace_bytes(grid(shape), shape);
  return bytes;
}

void Quantize::write_scales(const TensorView& in, const ScopeGrid& grid, std::byte* out,
                            std::span<float> divisor, const Context& context) const {
  Scratch scratch(context);
  const std::int64_t scopes = grid.count();
  const auto scale = scratch.take<float>(scopes);
  if (options_.is_rms) {
    Context inner = context;
    inner.workspace = scratch.rest();
    scope_mean(in, grid, true, scale, inner);
    for (float& s : scale) s = 2.0f * std::sqrt(s);
  } else {
    scope_absmax(in, grid, scale, context.threads);
  }
  for (std::int64_t i = 0; i < scopes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint16_t half = scale_to_float16(scale[at]);
    store(out + 2 * i, half);
    divisor[at] = float16_to_float32(half) + 1e-6f;
    if (options_.is_bian) divisor[at] = float16_to_float32(float32_to_float16(divisor[at]));
  }
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
        .encode(in, scopes, options_, out.data(), context);
    return size;
  }

  Scratch scratch(context);
  const auto divisor = scratch.take<float>(scopes.count());
  Context inner = context;
  inner.workspace = scratch.rest();
  write_scales(in, scopes, out.data(), divisor, inner);

  const Purpose purpose = context.second_round ? Purpose::kSecondRounding : Purpose::kRounding;
  const Stream stream = context.random(purpose, true);
  const bool is_spread = has_short_runs(scopes);
  kernels::QuantizeLoop loop;
  loop.half = 1 << (options_.bits - 1);
  loop.is_quotient_float16 = options_.is_bian && in.dtype == DType::kFloat16;
  loop.is_per_element = is_spread || !scopes.is_contiguous();
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    std::array<float, kBlockElements> buffer;
    std::array<float, kBlockElements> spread;
    std::array<std::uint16_t, kBlockElements> draws;
    std::array<std::uint8_t, kBlockElements> codes;
    const float* x = load_block(in, begin, count, buffer.data());
    if (options_.is_stochastic)
      kernels::fill_draw16(stream, static_cast<std::uint64_t>(context.element_offset + begin),
                           count, draws.data());
    const auto run = [&](std::int64_t first, std::int64_t last, const float* values) {
      kernels::QuantizeLoop own = loop;
      own.divisor = values;
      own.draws = options_.is_stochastic ? draws.data() + (first - begin) : nullptr;
      kernels::quantize(x + (first - begin), last - first, own, codes.data() + (first - begin));
    };
    if (is_spread) {
      spread_scopes(scopes, in.shape, begin, begin + count, divisor.data(), spread.data());
      run(begin, begin + count, spread.data());
    } else {
      for_each_run(scopes, in.shape, begin, begin + count,
                   [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                     run(first, last, divisor.data() + scope);
                   });
    }
    kernels::pack_bits(codes.data(), count, options_.bits,
                       out.data() + metadata + begin / 8 * options_.bits);
  });
  return size;
}

void Quantize::decode_into(std::span<const std::byte> payload, const Shape& shape,
                           std::span<float> out, const Context& context,
                           bool is_accumulated) const {
  const std::int64_t n = shape.elements();
  const ScopeGrid scopes = grid(shape);
  const std::size_t metadata = static_cast<std::size_t>(scopes.count()) * 2;
  expect_payload_bytes(payload, metadata + packed_bytes(n, options_.bits), "quantize");
  if (n == 0) return;
  Scratch scratch(context);
  const auto step = scratch.take<float>(scopes.count());
  kernels::DequantizeLoop loop;
  loop.half = 1 << (options_.bits - 1);
  // (q/half) * s and q * (s/half) are the same number: q has 8 bits, s 11, so both are exact.
  for (std::size_t i = 0; i < step.size(); ++i)
    step[i] = float16_to_float32(load<std::uint16_t>(payload.data() + 2 * i)) /
              static_cast<float>(loop.half);
  loop.is_float16 = options_.is_bian;
  loop.is_accumulated = is_accumulated;
  const bool is_spread = has_short_runs(scopes);
  loop.is_per_element = is_spread || !scopes.is_contiguous();
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    std::array<float, kBlockElements> spread;
    std::array<std::uint8_t, kBlockElements> codes;
    kernels::unpack_bits(payload.data() + metadata + begin / 8 * options_.bits, count,
                         options_.bits, codes.data());
    const auto run = [&](std::int64_t first, std::int64_t last, const float* values) {
      kernels::DequantizeLoop own = loop;
      own.step = values;
      kernels::dequantize(codes.data() + (first - begin), last - first, own, out.data() + first);
    };
    if (is_spread) {
      spread_scopes(scopes, shape, begin, begin + count, step.data(), spread.data());
      run(begin, begin + count, spread.data());
    } else {
      for_each_run(scopes, shape, begin, begin + count,
                   [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                     run(first, last, step.data() + scope);
                   });
    }
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

void Quantize::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                      std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, false},
                            context);
  decode_into(payload, shape, out, context, false);
}

void Quantize::decode_accumulate(std::span<const std::byte> payload, const Shape& shape,
                                 DType dtype, std::span<float> out, State*,
                                 const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, true},
                            context);
  decode_into(payload, shape, out, context, true);
}

}  // namespace tersor::compressors
