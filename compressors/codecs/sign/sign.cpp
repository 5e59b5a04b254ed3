// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/sign/sign.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "compressors/api/workspace.hpp"
#include "compressors/codecs/sign/sign_kernels.hpp"
#include "compressors/device/device_plan.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

CodecInfo sign_info() {
  CodecInfo info;
  info.name = "sign";
  info.summary = "one bit per value and the mean magnitude per scope";
  info.source = "Bernstein et al., signSGD, ICML 2018; Karimireddy et al., ICML 2019";
  info.parameters = {
      Parameter::choice("scope", scope_names(), "what one scale covers"),
      Parameter::integer("group", 128, 1, 2147483647, "values of a group along hidden"),
  };
  info.make = [](const Arguments& a) {
    return std::make_shared<Sign>(parse_scope(a.choice("scope")), a.integer("group"),
                                  a.canonical());
  };
  info.examples = {"sign(scope=sample)", "sign(scope=token)", "sign(scope=channel)",
                   "sign(scope=group,group=24)", "sign(scope=group)"};
  info.gates = {{"encode", "sign", 0.80}, {"decode", "sign", 0.80}};
  return info;
}

const CodecRegistrar kRegistrar(sign_info());

}  // namespace

Sign::Sign(Scope scope, std::int64_t group, std::string canonical)
    : LeafCodec(std::move(canonical), Exchange::kGather), scope_(scope), group_(group) {}

Properties Sign::properties() const {
  Properties p;
  // |x - C(x)|^2 = |x|^2 - |x|_1^2/n <= (1 - 1/n) |x|^2 for a scope of n (Karimireddy et al.).
  const Sign codec = *this;
  p.contraction = [codec](const Shape& shape) -> std::optional<double> {
    if (shape.elements() == 0) return 1.0;
    return 1.0 / static_cast<double>(codec.grid(shape).longest());
  };
  p.error_bound_of_absmax = 1.0 + 0x1p-20;
  p.token_local = scope_ == Scope::kToken || scope_ == Scope::kGroup;
  p.sample_local = p.token_local || scope_ == Scope::kSample;
  return p;
}

LeafCodec::Sizes Sign::sizes(const Shape& shape, DType) const {
  return {static_cast<std::size_t>(grid(shape).count()) * 4, packed_bytes(shape.elements(), 1)};
}

bool Sign::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<SignLaunchers>::is_installed();
}

std::size_t Sign::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  if (context.device == Device::kCuda) return device_workspace_bytes(grid(shape), shape, 4, true);
  const std::size_t scales = Scratch::bytes_for<float>(grid(shape).count());
  return std::max(scales + mean_workspace_bytes(grid(shape), shape),
                  std::clamp<std::size_t>(context.ranks, 1, kMostSummed) * scales);
}

void Sign::read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                          DType, const DecodeTarget& target, const Context& context) const {
  DeviceTable<SignLaunchers>::get("sign").decode(payloads, shape, grid(shape), target, context);
}

void Sign::write(const TensorView& in, std::byte* out, const Context& context) const {
  if (context.device == Device::kCuda)
    return DeviceTable<SignLaunchers>::get("sign").encode(in, {}, grid(in.shape), out, context);
  const ScopeGrid scopes = grid(in.shape);
  const std::int64_t n = in.shape.elements();
  Scratch scratch(context);
  const auto scale = scratch.take<float>(scopes.count());
  Context inner = context;
  inner.workspace = scratch.rest();
  std::byte* bits = out + scale.size_bytes();
  const auto send_bits = [&](std::int64_t begin, std::int64_t count, const float* x) {
    kernels::gather_signs(x, count, bits + begin / 8);
  };
  // One pass where blocks of the sum start at whole bytes.
  const bool is_one_pass =
      scopes.is_contiguous() && scopes.longest() % 8 == 0 && in.shape.hidden % 8 == 0;
  if (is_one_pass)
    scope_mean(in, scopes, false, scale, inner, send_bits);
  else
    scope_mean(in, scopes, false, scale, inner);
  for (float& s : scale) s = std::min(s, kFloat32Max);
  std::memcpy(out, scale.data(), scale.size_bytes());
  if (is_one_pass) return;
  std::array<float, kBlockElements> buffer;
  for (std::int64_t begin = 0; begin < n; begin += kBlockElements) {
    const std::int64_t count = std::min(kBlockElements, n - begin);
    send_bits(begin, count, load_block(in, begin, count, buffer.data()));
  }
}

std::size_t Sign::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                       std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "sign");
  DeviceTable<SignLaunchers>::get("sign").encode(in, feedback, grid(in.shape), out.data(), context);
  return size;
}

void Sign::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType, bool is_accumulated, float* out, const Context& context) const {
  const ScopeGrid scopes = grid(shape);
  Scratch scratch(context);
  const auto per_payload = static_cast<std::size_t>(scopes.count());
  const auto scales = scratch.take<float>(scopes.count() * std::ssize(payloads));
  for (std::size_t p = 0; p < payloads.size(); ++p)
    std::memcpy(scales.data() + p * per_payload, payloads[p].data(), per_payload * sizeof(float));
  sum_blocks(kBlockElements, shape.elements(), context.threads, payloads.size(), is_accumulated,
             [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
               std::array<float, kBlockElements> spread;
               const std::byte* bits = payloads[p].data() + per_payload * sizeof(float);
               for_each_scaled(
                   scopes, shape, begin, begin + count, scales.data() + p * per_payload,
                   spread.data(),
                   [&](std::int64_t first, std::int64_t last, const float* s, bool each) {
                     kernels::apply_signs(bits, first, last - first, s, each, adds, out + first);
                   });
             });
}

}  // namespace tersor::compressors
