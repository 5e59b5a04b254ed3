// SPDX-License-Identifier: Apache-2.0
#include "compressors/wrappers/hadamard/hadamard.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/error.hpp"
#include "compressors/api/blocks.hpp"
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
  return Scratch::bytes_for<float>(shape.elements()) + Scratch::bytes_for<float>(shape.hidden) +
         Scratch::bytes_for<float>(shape.elements()) + inner_workspace_bytes(shape, dtype, context);
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

void Hadamard::decode(std::span<const std::byte> payload, const Shape& shape, DType,
                      std::span<float> out, State* state, const Context& context) const {
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
