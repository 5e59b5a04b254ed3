// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/hadamard/hadamard.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/device/device_floats.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/hadamard_kernels.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

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
  info.gates = {{"encode", "hadamard(none)", 0.25}};
  return info;
}

const CodecRegistrar kRegistrar(hadamard_info());

bool is_aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0;
}

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
  // The rotated message, that of decode_bits, and on a device the sum of several.
  const int arrays = context.device == Device::kCuda ? 3 : 2;
  return arrays * Scratch::bytes_for<float>(shape.elements()) +
         Scratch::bytes_for<float>(shape.hidden) + inner_workspace_bytes(shape, dtype, context);
}

double Hadamard::added_flops(const Shape& shape, std::uint32_t ranks) const {
  const double stages = std::log2(static_cast<double>(std::max<std::int64_t>(block_, 1)));
  return Wrapper::added_flops(shape, ranks) +
         2.0 * static_cast<double>(shape.elements()) * (stages + 2.0);
}

// Calls visit(begin, size, count) for the blocks of a row, `count` of one size: a tail splits into
// falling powers of two.
template <class Visit>
void Hadamard::for_each_size(std::int64_t hidden, Visit&& visit) const {
  std::int64_t size = block_;
  for (std::int64_t at = 0; at < hidden;) {
    while (size > hidden - at) size /= 2;
    const std::int64_t count = (hidden - at) / size;
    visit(at, size, count);
    at += count * size;
  }
}

std::size_t Hadamard::encode(int round, const TensorView& in, std::span<std::byte> out,
                             State* state, const Context& context) const {
  Scratch scratch(context);
  if (context.device == Device::kCuda) {
    const auto rotated = scratch.take<float>(in.shape.elements());
    if (in.shape.elements() > 0)
      launchers().rotate(in, {}, block_, context.fixed_random(Purpose::kSigns), rotated.data(),
                         context.stream);
    Context rest = context;
    rest.workspace = scratch.rest();
    return inner().encode(round, {rotated.data(), in.shape, DType::kFloat32}, out, state, rest);
  }
  const auto signs = scratch.take<float>(in.shape.hidden);
  random_signs(context, Purpose::kSigns, signs);
  if (inner().sends_float32_as_is() && is_aligned(out.data())) {
    const std::size_t size = payload_bytes(in.shape, in.dtype, context, round, state);
    expect_room(out, size, "hadamard");
    rotate(in, signs, reinterpret_cast<float*>(out.data()), context.threads);
    return size;
  }
  const auto rotated = scratch.take<float>(in.shape.elements());
  rotate(in, signs, rotated.data(), context.threads);
  Context rest = context;
  rest.workspace = scratch.rest();
  return inner().encode(round, {rotated.data(), in.shape, DType::kFloat32}, out, state, rest);
}

// The rotation reads x and the state; its inverse reads both again and writes the new state.
std::size_t Hadamard::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                           std::span<std::byte> out, const Context& context) const {
  const Stream signs = context.fixed_random(Purpose::kSigns);
  Scratch scratch(context);
  const auto rotated = scratch.take<float>(in.shape.elements());
  Context rest = context;
  rest.workspace = scratch.rest();
  launchers().rotate(in, feedback, block_, signs, rotated.data(), context.stream);
  const std::size_t size =
      inner().encode(0, {rotated.data(), in.shape, DType::kFloat32}, out, nullptr, rest);
  const std::span<const std::byte> payload = out.first(size);
  inner().decode_on_device({&payload, 1}, in.shape, DType::kFloat32,
                           {rotated.data(), DType::kFloat32, false}, rest);
  launchers().inverse_rotate_feedback(rotated.data(), in, feedback, block_, signs, context.stream);
  return size;
}

void Hadamard::rotate(const TensorView& in, std::span<const float> signs, float* out,
                      int threads) const {
  const std::int64_t hidden = in.shape.hidden;
  const auto item = static_cast<std::int64_t>(item_bytes(in.dtype));
  for_each_share(
      in.shape.rows(), in.shape.elements(), threads,
      [&](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t r = first; r < last; ++r) {
          float* row = out + r * hidden;
          const float* x = row;
          const auto* from = static_cast<const std::byte*>(in.data) + r * hidden * item;
          if (in.dtype == DType::kFloat32)
            x = reinterpret_cast<const float*>(from);
          else
            widen_values(from, in.dtype, hidden, row);
          for_each_size(hidden, [&](std::int64_t at, std::int64_t size, std::int64_t count) {
            kernels::signed_walsh_hadamard(x + at, signs.data() + at, size, count, row + at);
          });
        }
      });
}

void Hadamard::inverse_rotate_row(const float* x, std::int64_t hidden, const float* signs,
                                  float* out) const {
  for_each_size(hidden, [&](std::int64_t at, std::int64_t size, std::int64_t count) {
    kernels::walsh_hadamard_signed(x + at, signs + at, size, count, out + at);
  });
}

void Hadamard::add_row(const float* x, std::int64_t hidden, const float* signs, float* work,
                       float* out) const {
  for_each_size(hidden, [&](std::int64_t at, std::int64_t size, std::int64_t count) {
    kernels::add_walsh_hadamard_signed(x + at, signs + at, size, count, work + at, out + at);
  });
}

void Hadamard::inverse_rotate(const float* x, const Shape& shape, std::span<const float> signs,
                              float* out, int threads) const {
  for_each_share(shape.rows(), shape.elements(), threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t) {
                   for (std::int64_t at = first * shape.hidden; at < last * shape.hidden;
                        at += shape.hidden)
                     inverse_rotate_row(x + at, shape.hidden, signs.data(), out + at);
                 });
}

bool Hadamard::supports(Device device) const {
  return inner_supports(device) &&
         (device == Device::kCpu || DeviceTable<HadamardLaunchers>::is_installed());
}

// Messages are rotated back one by one: their sum rounds after the transform, not before it.
void Hadamard::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                                const Shape& shape, DType, const DecodeTarget& target,
                                const Context& context) const {
  const std::int64_t n = shape.elements();
  Scratch scratch(context);
  const auto rotated = scratch.take<float>(n);
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
                             {rotated.data(), DType::kFloat32, false}, rest);
    if (n > 0)
      launchers().inverse_rotate(rotated.data(), shape, block_,
                                 context.fixed_random(Purpose::kSigns), sum, context.stream);
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
    Scratch rotated(context);
    const auto values = rotated.take<float>(shape.elements());
    Context inside = context;
    inside.workspace = rotated.rest();
    inner().decode(payload, shape, DType::kFloat32, values, state, inside);
    if (shape.elements() > 0)
      launchers().inverse_rotate(values.data(), shape, block_,
                                 context.fixed_random(Purpose::kSigns), target, context.stream);
    return;
  }
  Scratch scratch(context);
  const auto signs = scratch.take<float>(shape.hidden);
  random_signs(context, Purpose::kSigns, signs);
  if (const float* values = values_of(payload, shape, dtype, state, context))
    return inverse_rotate(values, shape, signs, out.data(), context.threads);
  Context rest = context;
  rest.workspace = scratch.rest();
  inner().decode(payload, shape, DType::kFloat32, out, state, rest);
  inverse_rotate(out.data(), shape, signs, out.data(), context.threads);
}

void Hadamard::decode_accumulate(std::span<const std::byte> payload, const Shape& shape,
                                 DType dtype, std::span<float> out, State* state,
                                 const Context& context) const {
  if (context.device == Device::kCuda)
    return Codec::decode_accumulate(payload, shape, dtype, out, state, context);
  Scratch scratch(context);
  const auto signs = scratch.take<float>(shape.hidden);
  random_signs(context, Purpose::kSigns, signs);
  const auto values = scratch.take<float>(shape.elements());
  Context rest = context;
  rest.workspace = scratch.rest();
  inner().decode(payload, shape, DType::kFloat32, values, state, rest);
  for_each_share(shape.rows(), shape.elements(), context.threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t) {
                   for (std::int64_t at = first * shape.hidden; at < last * shape.hidden;
                        at += shape.hidden) {
                     float* const x = values.data() + at;
                     add_row(x, shape.hidden, signs.data(), x, out.data() + at);
                   }
                 });
}

// The values of a payload that is nothing else; null where the inner codec has to decode it.
const float* Hadamard::values_of(std::span<const std::byte> payload, const Shape& shape,
                                 DType dtype, const State* state, const Context& context) const {
  if (!inner().sends_float32_as_is() || !is_aligned(payload.data())) return nullptr;
  expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, state), "hadamard");
  return reinterpret_cast<const float*>(payload.data());
}

// The sum of such payloads, row by row.
void Hadamard::combine_values(std::span<const std::span<const std::byte>> received,
                              const Shape& shape, std::span<float> out,
                              const Context& context) const {
  const std::int64_t hidden = shape.hidden;
  Scratch scratch(context);
  const auto signs = scratch.take<float>(hidden);
  random_signs(context, Purpose::kSigns, signs);
  const std::int64_t shares = share_count(shape.rows(), shape.elements(), context.threads);
  const auto work = scratch.take<float>(shares * hidden);
  for_each_share(shape.rows(), shape.elements(), context.threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                   for (std::int64_t at = first * hidden; at < last * hidden; at += hidden) {
                     const auto values = [&](std::size_t rank) {
                       return reinterpret_cast<const float*>(received[rank].data()) + at;
                     };
                     inverse_rotate_row(values(0), hidden, signs.data(), out.data() + at);
                     for (std::size_t rank = 1; rank < received.size(); ++rank)
                       add_row(values(rank), hidden, signs.data(), work.data() + slot * hidden,
                               out.data() + at);
                   }
                 });
}

void Hadamard::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                       DType dtype, std::span<float> out, State* state,
                       const Context& context) const {
  // METHODS, "Sum at a site": messages are decoded, then added. Only rounds that already brought a
  // sum are decoded by the inner codec's own rule.
  if (rounds() == 1) {
    const bool is_direct =
        context.device == Device::kCpu && received.size() > 1 &&
        std::all_of(received.begin(), received.end(), [&](std::span<const std::byte> payload) {
          return values_of(payload, shape, dtype, state, context) != nullptr;
        });
    if (is_direct) return combine_values(received, shape, out, context);
    return Codec::combine(received, shape, dtype, out, state, context);
  }
  Scratch scratch(context);
  if (context.device == Device::kCuda) {
    const auto rotated = scratch.take<float>(shape.elements());
    Context rest = context;
    rest.workspace = scratch.rest();
    inner().combine(received, shape, DType::kFloat32, rotated, state, rest);
    if (shape.elements() > 0)
      launchers().inverse_rotate(rotated.data(), shape, block_,
                                 context.fixed_random(Purpose::kSigns),
                                 {out.data(), DType::kFloat32, false}, context.stream);
    return;
  }
  const auto signs = scratch.take<float>(shape.hidden);
  random_signs(context, Purpose::kSigns, signs);
  Context rest = context;
  rest.workspace = scratch.rest();
  inner().combine(received, shape, DType::kFloat32, out, state, rest);
  inverse_rotate(out.data(), shape, signs, out.data(), context.threads);
}

}  // namespace tersor::compressors
