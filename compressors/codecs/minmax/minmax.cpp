// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/minmax/minmax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "compressors/api/workspace.hpp"
#include "compressors/codecs/minmax/minmax_kernels.hpp"
#include "compressors/device/device_plan.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo minmax_info() {
  CodecInfo info;
  info.name = "minmax";
  info.summary = "integers between the smallest and the largest value of a scope";
  info.source = "Rudakov et al., 2024; FBGEMM's row-wise format in spirit";
  info.parameters = {
      Parameter::integer("bits", 8, 1, 8, "bits per value"),
      Parameter::choice("scope", scope_names(), "what one pair of limits covers"),
      Parameter::integer("group", 128, 1, 2147483647, "values of a group along hidden"),
      Parameter::choice("rounding", {"nearest", "stochastic"}, "rounding of the quotient"),
  };
  info.strength = Strength{"bits"};
  info.make = [](const Arguments& a) {
    MinMaxOptions o;
    o.bits = static_cast<int>(a.integer("bits"));
    o.scope = parse_scope(a.choice("scope"));
    o.group = a.integer("group");
    o.is_stochastic = a.choice("rounding") == "stochastic";
    return std::make_shared<MinMax>(o, a.canonical());
  };
  info.examples = {
      "minmax(bits=1)",
      "minmax(bits=2,scope=token)",
      "minmax(bits=3,scope=group,group=24)",
      "minmax(bits=4,scope=channel)",
      "minmax(bits=5,scope=sample)",
      "minmax(scope=group,group=32,rounding=stochastic)",
      "minmax(rounding=stochastic)",
  };
  info.gates = {{"encode", "minmax", 0.40},
                {"encode", "minmax(scope=group,group=512)", 0.45},
                {"encode", "minmax(bits=4,scope=group,group=512)", 0.45},
                {"encode", "minmax(bits=2,scope=group,group=512)", 0.45},
                {"decode", "minmax(scope=group,group=512)", 0.60}};
  return info;
}

const CodecRegistrar kRegistrar(minmax_info());

// What both sides derive from the limits of one scope.
struct Limits {
  float low;
  float high;
  float base;
  float width;
  float factor;

  Limits(float smallest, float largest) : low(smallest), high(largest) {
    factor = std::isinf(high - low) ? 0.5f : 1.0f;
    base = low * factor;
    width = high * factor - base;
  }
  kernels::MinMaxLoop loop(int bits) const {
    kernels::MinMaxLoop loop;
    loop.low = &low;
    loop.high = &high;
    loop.base = &base;
    loop.width = &width;
    loop.factor = &factor;
    loop.has_overflow = factor != 1.0f;
    loop.top = (1 << bits) - 1;
    return loop;
  }
};

// The limits of all scopes.
class Frame {
 public:
  static constexpr std::int64_t kArrays = 5;

  Frame(const ScopeGrid& grid, const Shape& shape, Scratch& scratch)
      : grid_(grid), shape_(shape), values_(scratch.take<float>(kArrays * grid.count())) {
    loop_.is_per_element = has_short_runs(grid) || !grid.is_contiguous();
  }
  static std::size_t workspace_bytes(const ScopeGrid& grid) {
    return Scratch::bytes_for<float>(kArrays * grid.count());
  }

  std::span<float> low() { return array(0); }
  std::span<float> high() { return array(1); }
  /// After low and high are set.
  void derive(int bits, bool is_finite) {
    loop_.top = (1 << bits) - 1;
    loop_.is_finite = is_finite;
    for (std::size_t s = 0; s < low().size(); ++s) {
      const Limits limits(low()[s], high()[s]);
      loop_.has_overflow |= limits.factor != 1.0f;
      array(2)[s] = limits.base;
      array(3)[s] = limits.width;
      array(4)[s] = limits.factor;
    }
  }

  /// Calls visit(first, last, loop) for pieces of elements [begin, end), of one block.
  template <class Visit>
  void for_each_piece(std::int64_t begin, std::int64_t end, Visit&& visit) const {
    if (has_short_runs(grid_)) {
      std::array<float, kArrays * kBlockElements> expanded;
      for (std::int64_t a = 0; a < kArrays; ++a)
        expand_scopes(grid_, shape_, begin, end, values_.data() + a * grid_.count(),
                      expanded.data() + a * kBlockElements);
      visit(begin, end, loop_at(expanded.data(), kBlockElements));
      return;
    }
    for_each_run(grid_, shape_, begin, end,
                 [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                   visit(first, last, loop_at(values_.data() + scope, grid_.count()));
                 });
  }

 private:
  std::span<float> array(std::int64_t which) {
    const auto count = static_cast<std::size_t>(grid_.count());
    return values_.subspan(static_cast<std::size_t>(which) * count, count);
  }
  kernels::MinMaxLoop loop_at(const float* first, std::int64_t step) const {
    kernels::MinMaxLoop loop = loop_;
    loop.low = first;
    loop.high = first + step;
    loop.base = first + 2 * step;
    loop.width = first + 3 * step;
    loop.factor = first + 4 * step;
    return loop;
  }

  ScopeGrid grid_;
  Shape shape_;
  std::span<float> values_;
  kernels::MinMaxLoop loop_;
};

}  // namespace

MinMax::MinMax(const MinMaxOptions& options, std::string canonical)
    : options_(options), canonical_(std::move(canonical)) {}

Properties MinMax::properties() const {
  Properties p;
  p.unbiased = options_.is_stochastic;
  if (p.unbiased) p.unbiased_range = "every finite value, up to 2^-16 of a step";
  // A step is (max - min)/(2^bits - 1), at most twice the absolute maximum over that; nearest
  // rounding loses half of it. The last term covers the rounding of float32.
  const double top = (1 << options_.bits) - 1;
  p.deterministic = !options_.is_stochastic;
  p.error_bound_of_absmax = (options_.is_stochastic ? 2.0 : 1.0) / top + 0x1p-20;
  p.token_local = options_.scope == Scope::kToken || options_.scope == Scope::kGroup;
  p.sample_local = p.token_local || options_.scope == Scope::kSample;
  return p;
}

std::size_t MinMax::metadata_bytes(const Shape& shape, DType, const Context&, int,
                                   const State*) const {
  return static_cast<std::size_t>(grid(shape).count()) * 8;
}

std::size_t MinMax::payload_bytes(const Shape& shape, DType, const Context&, int,
                                  const State*) const {
  return static_cast<std::size_t>(grid(shape).count()) * 8 +
         packed_bytes(shape.elements(), options_.bits);
}

bool MinMax::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<MinMaxLaunchers>::is_installed();
}

std::size_t MinMax::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  if (context.device == Device::kCuda) return device_workspace_bytes(grid(shape), shape, 8);
  if (local_scopes(grid(shape), shape)) return 0;
  return std::clamp<std::size_t>(context.ranks, 1, kMostSummed) *
         Frame::workspace_bytes(grid(shape));
}

std::size_t MinMax::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                           const Context& context) const {
  const std::int64_t n = in.shape.elements();
  const ScopeGrid scopes = grid(in.shape);
  const std::size_t metadata = static_cast<std::size_t>(scopes.count()) * 8;
  const std::size_t size = metadata + packed_bytes(n, options_.bits);
  expect_room(out, size, "minmax");
  if (n == 0) return 0;
  if (context.device == Device::kCuda) {
    DeviceTable<MinMaxLaunchers>::get("minmax").encode(in, {}, scopes, options_, out.data(),
                                                       context);
    return size;
  }
  std::byte* const packed = out.data() + metadata;
  const Purpose purpose = context.second_round ? Purpose::kSecondRounding : Purpose::kRounding;
  const Stream stream = context.random(purpose, true);
  const auto draw = [&](std::int64_t begin, std::int64_t count, std::uint16_t* draws) {
    kernels::fill_draw16(stream, static_cast<std::uint64_t>(context.element_offset + begin), count,
                         draws);
    return draws;
  };
  if (const LocalScopes local = local_scopes(scopes, in.shape)) {
    for_each_block_of(local.block, n, context.threads, [&](std::int64_t begin, std::int64_t count) {
      std::array<std::uint16_t, kMostLocal> draws;
      std::array<std::uint8_t, kMostLocal> buffer;
      const PackedBlock block(packed, begin, count, options_.bits, buffer.data());
      if (options_.is_stochastic) draw(begin, count, draws.data());
      for (std::int64_t at = 0; at < count; at += local.length) {
        const kernels::Input x(in, begin + at);
        float low = std::numeric_limits<float>::infinity();
        float high = -low;
        const bool is_finite = kernels::min_max(x, local.length, low, high);
        if (low > high) low = high = 0.0f;
        const std::int64_t scope = (begin + at) / local.length;
        store(out.data() + 4 * scope, low);
        store(out.data() + metadata / 2 + 4 * scope, high);
        const Limits limits(low, high);
        kernels::MinMaxLoop loop = limits.loop(options_.bits);
        loop.is_finite = is_finite;
        if (options_.is_stochastic) loop.draws = draws.data() + at;
        kernels::minmax_encode(x, local.length, loop, block.codes() + at);
      }
      block.pack();
    });
    return size;
  }

  Scratch scratch(context);
  Frame frame(scopes, in.shape, scratch);
  const bool is_finite = scope_min_max(in, scopes, frame.low(), frame.high(), context.threads);
  std::memcpy(out.data(), frame.low().data(), metadata / 2);
  std::memcpy(out.data() + metadata / 2, frame.high().data(), metadata / 2);
  frame.derive(options_.bits, is_finite);
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    std::array<std::uint16_t, kBlockElements> draws;
    std::array<std::uint8_t, kBlockElements> buffer;
    const PackedBlock block(packed, begin, count, options_.bits, buffer.data());
    if (options_.is_stochastic) draw(begin, count, draws.data());
    frame.for_each_piece(
        begin, begin + count, [&](std::int64_t first, std::int64_t last, kernels::MinMaxLoop loop) {
          const std::int64_t at = first - begin;
          if (options_.is_stochastic) loop.draws = draws.data() + at;
          kernels::minmax_encode({in, first}, last - first, loop, block.codes() + at);
        });
    block.pack();
  });
  return size;
}

std::size_t MinMax::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                         std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "minmax");
  DeviceTable<MinMaxLaunchers>::get("minmax").encode(in, feedback, grid(in.shape), options_,
                                                     out.data(), context);
  return size;
}

void MinMax::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                          DType, bool is_accumulated, float* out, const Context& context) const {
  const std::int64_t n = shape.elements();
  const ScopeGrid scopes = grid(shape);
  const std::size_t metadata = static_cast<std::size_t>(scopes.count()) * 8;
  if (const LocalScopes local = local_scopes(scopes, shape)) {
    sum_blocks(local.block, n, context.threads, payloads.size(), is_accumulated,
               [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
                 std::array<std::uint8_t, kMostLocal> buffer;
                 const std::byte* const payload = payloads[p].data();
                 const std::uint8_t* codes =
                     unpack_block(payload + metadata, begin, count, options_.bits, buffer.data());
                 for (std::int64_t at = 0; at < count; at += local.length) {
                   const std::int64_t scope = (begin + at) / local.length;
                   const Limits limits(load<float>(payload + 4 * scope),
                                       load<float>(payload + metadata / 2 + 4 * scope));
                   kernels::minmax_decode(codes + at, local.length, limits.loop(options_.bits),
                                          adds, out + begin + at);
                 }
               });
    return;
  }
  Scratch scratch(context);
  std::array<std::optional<Frame>, kMostSummed> frames;
  for (std::size_t p = 0; p < payloads.size(); ++p) {
    Frame& frame = frames[p].emplace(scopes, shape, scratch);
    std::memcpy(frame.low().data(), payloads[p].data(), metadata / 2);
    std::memcpy(frame.high().data(), payloads[p].data() + metadata / 2, metadata / 2);
    frame.derive(options_.bits, false);
  }
  sum_blocks(kBlockElements, n, context.threads, payloads.size(), is_accumulated,
             [&](std::size_t p, std::int64_t begin, std::int64_t count, bool adds) {
               std::array<std::uint8_t, kBlockElements> buffer;
               const std::uint8_t* codes = unpack_block(payloads[p].data() + metadata, begin, count,
                                                        options_.bits, buffer.data());
               frames[p]->for_each_piece(
                   begin, begin + count,
                   [&](std::int64_t first, std::int64_t last, const kernels::MinMaxLoop& loop) {
                     kernels::minmax_decode(codes + (first - begin), last - first, loop, adds,
                                            out + first);
                   });
             });
}

void MinMax::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                              const Shape& shape, DType dtype, const DecodeTarget& target,
                              const Context& context) const {
  for (const auto& payload : payloads)
    expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, nullptr), "minmax");
  if (shape.elements() == 0) return;
  DeviceTable<MinMaxLaunchers>::get("minmax").decode(payloads, shape, grid(shape), options_, target,
                                                     context);
}

}  // namespace tersor::compressors
