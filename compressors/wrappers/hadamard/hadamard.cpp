// SPDX-License-Identifier: Apache-2.0
#include "compressors/wrappers/hadamard/hadamard.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/error.hpp"
#include "compressors/api/blocks.hpp"
#include "compressors/api/device_floats.hpp"
#include "compressors/api/device_table.hpp"
#include "compressors/api/hadamard_kernels.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/api/workspace.hpp"

namespace tersor::compressors {
namespace {

CodecInfo hadamard_info() {
  CodecInfo info;
  info.name = "hadamard";
  info.summary = "random signs and a Walsh-Hadamard transform around another codec";
  info.source = "Suresh et al., ICML 2017; Ashkboos et al., QuaRot, NeurIPS 2024";
  info.parameters = {
      Parameter::codec("codec", "what compresses the transformed message"),
      Parameter::integer("block", 128, 1, 1048576, "values of a transform, a power of two"),
  };
  info.make = [](const Arguments& a) {
    const std::int64_t block = a.integer("block");
    if (!std::has_single_bit(static_cast<std::uint64_t>(block)))
      throw Error(ErrorKind::kSpec,
                  "hadamard: block " + std::to_string(block) + " is not a power of two");
    return std::make_shared<Hadamard>(a.codec("codec"), block, a.canonical());
  };
  info.examples = {"hadamard(quantize(bits=4))", "hadamard(none,block=16)",
                   "hadamard(topk(ratio=0.1),block=1)", "hadamard(ef(quantize(bits=2)),block=64)",
                   "hadamard(randk(ratio=0.25),block=32)"};
  return info;
}

const CodecRegistrar kRegistrar(hadamard_info());

const HadamardLaunchers& launchers() { return DeviceTable<HadamardLaunchers>::get("hadamard"); }

}  // namespace

Hadamard::Hadamard(std::shared_ptr<const Codec> inner, std::int64_t block, std::string canonical)
    : Wrapper(std::move(inner), std::move(canonical)), block_(block) {}

Properties Hadamard::properties() const {
  Properties p = inner().properties();
  p.summable_tolerance = std::max(p.summable_tolerance, 1e-5);
  if (p.contraction) {
    // The transform keeps lengths up to its own rounding.
    const auto contraction = p.contraction;
    p.contraction = [contraction](const Shape& shape) -> std::optional<double> {
      const auto delta = contraction(shape);
      return delta ? std::optional<double>(*delta * (1 - 1e-6) - 1e-6) : std::nullopt;
    };
  }
  p.error_bound_of_absmax.reset();
  p.lossless = false;
  p.nonfinite_spread = std::max(p.nonfinite_spread, Spread::kRow);
  return p;
}

std::size_t Hadamard::workspace_bytes(const Shape& shape, DType dtype,
                                      const Context& context) const {
  // The turned message, that of decode_bits, and on a device the sum of several.
  const int arrays = context.device == Device::kCuda ? 3 : 2;
  return arrays * Scratch::bytes_for<float>(shape.elements()) +
         Scratch::bytes_for<float>(shape.hidden) + inner_workspace_bytes(shape, dtype, context);
}

double Hadamard::added_flops(const Shape& shape, std::uint32_t ranks) const {
  const double stages = std::log2(static_cast<double>(std::max<std::int64_t>(block_, 1)));
  return Wrapper::added_flops(shape, ranks) +
         2.0 * static_cast<double>(shape.elements()) * (stages + 2.0);
}

// Calls visit(begin, size) for the blocks of a row: a tail splits into falling powers of two.
template <class Visit>
void Hadamard::for_each_block(std::int64_t hidden, Visit&& visit) const {
  std::int64_t size = block_;
  for (std::int64_t at = 0; at < hidden; at += size) {
    while (size > hidden - at) size /= 2;
    visit(at, size);
  }
}

std::size_t Hadamard::encode(int round, const TensorView& in, std::span<std::byte> out,
                             State* state, const Context& context) const {
  const std::int64_t hidden = in.shape.hidden;
  Scratch scratch(context);
  const auto turned = scratch.take<float>(in.shape.elements());
  if (context.device == Device::kCuda) {
    if (in.shape.elements() > 0)
      launchers().turn(in, block_, context.fixed_random(Purpose::kSigns), turned.data(),
                       context.stream);
    Context rest = context;
    rest.workspace = scratch.rest();
    return inner().encode(round, {turned.data(), in.shape, DType::kFloat32}, out, state, rest);
  }
  const auto signs = scratch.take<float>(hidden);
  random_signs(context, Purpose::kSigns, signs);
  const auto item = static_cast<std::int64_t>(item_bytes(in.dtype));
  for (std::int64_t r = 0; r < in.shape.rows(); ++r) {
    float* row = turned.data() + r * hidden;
    const float* x = row;
    const auto* from = static_cast<const std::byte*>(in.data) + r * hidden * item;
    if (in.dtype == DType::kFloat32)
      x = reinterpret_cast<const float*>(from);
    else
      widen_values(from, in.dtype, hidden, row);
    for_each_block(hidden, [&](std::int64_t at, std::int64_t size) {
      kernels::signed_walsh_hadamard(x + at, signs.data() + at, size, row + at);
    });
    kernels::canonical_nan(row, hidden);
  }
  Context rest = context;
  rest.workspace = scratch.rest();
  return inner().encode(round, {turned.data(), in.shape, DType::kFloat32}, out, state, rest);
}

void Hadamard::turn_back(std::span<float> out, const Shape& shape,
                         std::span<const float> signs) const {
  for (std::int64_t r = 0; r < shape.rows(); ++r) {
    float* row = out.data() + r * shape.hidden;
    for_each_block(shape.hidden, [&](std::int64_t at, std::int64_t size) {
      kernels::walsh_hadamard_signed(row + at, signs.data() + at, size, row + at);
    });
  }
}

bool Hadamard::supports(Device device) const {
  return inner_supports(device) &&
         (device == Device::kCpu || DeviceTable<HadamardLaunchers>::is_installed());
}

// Messages are turned back one by one: their sum rounds after the transform, not before it.
void Hadamard::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                                const Shape& shape, DType, const DecodeTarget& target,
                                const Context& context) const {
  const std::int64_t n = shape.elements();
  Scratch scratch(context);
  const auto turned = scratch.take<float>(n);
  DecodeTarget sum = target;
  const bool is_rounded_last = payloads.size() > 1 && target.dtype != DType::kFloat32;
  if (is_rounded_last) {
    sum = {scratch.take<float>(n).data(), DType::kFloat32, target.is_accumulated};
    const std::span<const std::byte> old(static_cast<const std::byte*>(target.data),
                                         static_cast<std::size_t>(n) * item_bytes(target.dtype));
    if (target.is_accumulated)
      float_launchers().add({&old, 1}, target.dtype, n, {sum.data, DType::kFloat32, false},
                            context.stream);
  }
  Context rest = context;
  rest.workspace = scratch.rest();
  for (const auto& payload : payloads) {
    inner().decode_on_device({&payload, 1}, shape, DType::kFloat32,
                             {turned.data(), DType::kFloat32, false}, rest);
    if (n > 0)
      launchers().turn_back(turned.data(), shape, block_, context.fixed_random(Purpose::kSigns),
                            sum, context.stream);
    sum.is_accumulated = true;
  }
  if (is_rounded_last)
    add_on_device({static_cast<const float*>(sum.data), static_cast<std::size_t>(n)},
                  {target.data, target.dtype, false}, context);
}

void Hadamard::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                      std::span<float> out, State* state, const Context& context) const {
  if (context.device == Device::kCuda) {
    const DecodeTarget target{out.data(), DType::kFloat32, false};
    if (!decodes_with_state())
      return decode_on_device({&payload, 1}, shape, dtype, target, context);
    Scratch turned(context);
    const auto values = turned.take<float>(shape.elements());
    Context inside = context;
    inside.workspace = turned.rest();
    inner().decode(payload, shape, DType::kFloat32, values, state, inside);
    if (shape.elements() > 0)
      launchers().turn_back(values.data(), shape, block_, context.fixed_random(Purpose::kSigns),
                            target, context.stream);
    return;
  }
  Scratch scratch(context);
  const auto signs = scratch.take<float>(shape.hidden);
  random_signs(context, Purpose::kSigns, signs);
  Context rest = context;
  rest.workspace = scratch.rest();
  inner().decode(payload, shape, DType::kFloat32, out, state, rest);
  turn_back(out, shape, signs);
}

void Hadamard::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                       DType dtype, std::span<float> out, State* state,
                       const Context& context) const {
  // METHODS, "Sum at a site": messages are decoded, then added. Only rounds that already brought a
  // sum are decoded by the inner codec's own rule.
  if (rounds() == 1) return Codec::combine(received, shape, dtype, out, state, context);
  Scratch scratch(context);
  const auto signs = scratch.take<float>(shape.hidden);
  random_signs(context, Purpose::kSigns, signs);
  Context rest = context;
  rest.workspace = scratch.rest();
  inner().combine(received, shape, DType::kFloat32, out, state, rest);
  turn_back(out, shape, signs);
}

}  // namespace tersor::compressors
