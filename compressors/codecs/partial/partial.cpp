// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/partial/partial.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compressors/api/workspace.hpp"
#include "compressors/device/device_floats.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

CodecInfo partial_info() {
  CodecInfo info;
  info.name = "partial";
  info.sums_part_of_hidden = true;
  info.summary = "sums the first channels only, the rest stays local";
  info.source = "partial synchronisation of tensor parallelism, 2025";
  info.parameters = {
      Parameter::codec("codec", "what compresses the summed channels"),
      Parameter::real("ratio", "0.5", 0, 1, false, "share of the channels that is summed"),
  };
  info.strength = Strength{"ratio"};
  info.make = [](const Arguments& a) {
    return std::make_shared<Partial>(a.codec("codec"), a.real("ratio"), a.canonical());
  };
  info.examples = {"partial(none)", "partial(quantize(bits=4),ratio=0.3)", "partial(none,ratio=0)",
                   "partial(cast,ratio=1)", "partial(topk(ratio=0.1,scope=token))"};
  return info;
}

const CodecRegistrar kRegistrar(partial_info());

// Rows of `from_width` bytes to rows of `to_width` bytes, as much as both have.
void copy_rows(const std::byte* from, std::size_t from_width, std::byte* to, std::size_t to_width,
               std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    std::memcpy(to, from, std::min(from_width, to_width));
    from += from_width;
    to += to_width;
  }
}

}  // namespace

Partial::Partial(std::shared_ptr<const Codec> inner, double ratio, std::string canonical)
    : Wrapper(std::move(inner), std::move(canonical)), ratio_(ratio) {}

Shape Partial::inner_shape(const Shape& shape) const {
  Shape s = shape;
  s.hidden =
      static_cast<std::int64_t>(std::floor(ratio_ * static_cast<double>(shape.hidden) + 0.5));
  return s;
}

Properties Partial::properties() const {
  Properties p = inner().properties();
  p.contraction = nullptr;
  p.unbiased = false;
  p.unbiased_range.clear();
  p.error_bound_of_absmax.reset();
  if (const auto bound = inner().properties().error_bound_of_absmax)
    p.error_bound_of_absmax = std::max(*bound, 1.0);
  p.lossless = false;
  p.is_expansive = true;
  return p;
}

std::size_t Partial::workspace_bytes(const Shape& shape, DType dtype,
                                     const Context& context) const {
  // The last one is for decode_accumulate.
  return 2 * Scratch::bytes_for<float>(inner_shape(shape).elements()) +
         Scratch::bytes_for<float>(shape.elements()) + inner_workspace_bytes(shape, dtype, context);
}

std::size_t Partial::encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                            const Context& context) const {
  const Shape part = inner_shape(in.shape);
  const std::size_t item = item_bytes(in.dtype);
  Scratch scratch(context);
  const auto bits = scratch.take<std::byte>(part.elements() * static_cast<std::int64_t>(item));
  const std::size_t from_width = static_cast<std::size_t>(in.shape.hidden) * item;
  const std::size_t to_width = static_cast<std::size_t>(part.hidden) * item;
  const auto* from = static_cast<const std::byte*>(in.data);
  if (part.elements() > 0 && context.device == Device::kCuda)
    float_launchers().copy_rows(from, from_width, bits.data(), to_width, to_width, part.rows(),
                                context.stream);
  else if (part.elements() > 0)
    copy_rows(from, from_width, bits.data(), to_width, part.rows());
  Context rest = context;
  rest.workspace = scratch.rest();
  return inner().encode(round, {bits.data(), part, in.dtype}, out, state, rest);
}

bool Partial::supports(Device device) const { return inner_supports(device); }

void Partial::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                               const Shape& shape, DType dtype, const DecodeTarget& target,
                               const Context& context) const {
  const Shape part = inner_shape(shape);
  Scratch scratch(context);
  const auto summed = scratch.take<float>(part.elements());
  Context rest = context;
  rest.workspace = scratch.rest();
  // What is there already is added to one by one: a sum of the payloads would round otherwise.
  const std::size_t step = target.is_accumulated ? 1 : payloads.size();
  const DecodeTarget part_target{summed.data(), DType::kFloat32, false};
  for (std::size_t i = 0; i < payloads.size(); i += step) {
    inner().decode_on_device(payloads.subspan(i, step), part, dtype, part_target, rest);
    float_launchers().join_channels(summed.data(), part.hidden, {nullptr, shape, dtype}, shape,
                                    target, context.stream);
  }
}

void Partial::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                     std::span<float> out, State* state, const Context& context) const {
  const DecodeTarget target{out.data(), DType::kFloat32, false};
  const bool is_on_device = context.device == Device::kCuda;
  if (is_on_device && !decodes_with_state())
    return decode_on_device({&payload, 1}, shape, dtype, target, context);
  const Shape part = inner_shape(shape);
  Scratch scratch(context);
  const auto summed = scratch.take<float>(part.elements());
  Context rest = context;
  rest.workspace = scratch.rest();
  inner().decode(payload, part, dtype, summed, state, rest);
  if (is_on_device)
    return float_launchers().join_channels(summed.data(), part.hidden, {nullptr, shape, dtype},
                                           shape, target, context.stream);
  std::fill(out.begin(), out.end(), 0.0f);
  if (part.elements() > 0)
    copy_rows(std::as_bytes(summed).data(), static_cast<std::size_t>(part.hidden) * 4,
              std::as_writable_bytes(out).data(), static_cast<std::size_t>(shape.hidden) * 4,
              part.rows());
}

void Partial::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                      DType dtype, std::span<float> out, State* state,
                      const Context& context) const {
  const Shape part = inner_shape(shape);
  Scratch scratch(context);
  const auto summed = scratch.take<float>(part.elements());
  Context rest = context;
  rest.workspace = scratch.rest();
  rest.local_input = {};
  inner().combine(received, part, dtype, summed, state, rest);
  if (context.device == Device::kCuda)
    return float_launchers().join_channels(summed.data(), part.hidden,
                                           {context.local_input.data, shape, dtype}, shape,
                                           {out.data(), DType::kFloat32, false}, context.stream);
  if (context.local_input.data != nullptr)
    widen(dtype, context.local_input.data, out);
  else
    std::fill(out.begin(), out.end(), 0.0f);
  if (part.elements() > 0)
    copy_rows(std::as_bytes(summed).data(), static_cast<std::size_t>(part.hidden) * 4,
              std::as_writable_bytes(out).data(), static_cast<std::size_t>(shape.hidden) * 4,
              part.rows());
}

}  // namespace tersor::compressors
