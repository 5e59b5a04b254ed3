// SPDX-License-Identifier: Apache-2.0
#include "compressors/minmax/minmax.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "compressors/api/bits.hpp"
#include "compressors/api/blocks.hpp"
#include "compressors/api/device_plan.hpp"
#include "compressors/api/device_table.hpp"
#include "compressors/api/kernels.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/minmax/minmax_kernels.hpp"

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
  return info;
}

const CodecRegistrar kRegistrar(minmax_info());

// What both sides derive from the limits: five numbers a scope, and their copies for one block
// where runs are short.
class Frame {
 public:
  static constexpr std::int64_t kArrays = 5;

  Frame(const ScopeGrid& grid, const Shape& shape, Scratch& scratch)
      : grid_(grid), shape_(shape), values_(scratch.take<float>(kArrays * grid.count())) {
    if (has_short_runs(grid)) spread_ = scratch.take<float>(kArrays * kBlockElements);
    loop_.is_per_element = has_short_runs(grid) || !grid.is_contiguous();
  }
  static std::size_t workspace_bytes(const ScopeGrid& grid) {
    return Scratch::bytes_for<float>(kArrays * grid.count()) +
           (has_short_runs(grid) ? Scratch::bytes_for<float>(kArrays * kBlockElements) : 0);
  }

  /// Values spread over elements are scratch of one thread.
  int threads(const Context& context) const { return has_short_runs(grid_) ? 1 : context.threads; }

  std::span<float> low() { return array(0); }
  std::span<float> high() { return array(1); }
  /// After low and high are set.
  void derive(int bits) {
    loop_.top = (1 << bits) - 1;
    for (std::size_t s = 0; s < low().size(); ++s) {
      const float factor = std::isinf(high()[s] - low()[s]) ? 0.5f : 1.0f;
      loop_.has_overflow |= factor != 1.0f;
      array(2)[s] = low()[s] * factor;
      array(3)[s] = high()[s] * factor - array(2)[s];
      array(4)[s] = factor;
    }
  }

  /// Calls visit(first, last, loop) for pieces of elements [begin, end), of one block.
  template <class Visit>
  void for_each_piece(std::int64_t begin, std::int64_t end, Visit&& visit) {
    if (has_short_runs(grid_)) {
      for (std::int64_t a = 0; a < kArrays; ++a)
        spread_scopes(grid_, shape_, begin, end, array(a).data(),
                      spread_.data() + a * kBlockElements);
      point(spread_.data(), kBlockElements);
      visit(begin, end, loop_);
      return;
    }
    for_each_run(grid_, shape_, begin, end,
                 [&](std::int64_t first, std::int64_t last, std::int64_t scope) {
                   point(values_.data() + scope, grid_.count());
                   visit(first, last, loop_);
                 });
  }

 private:
  std::span<float> array(std::int64_t which) {
    const auto count = static_cast<std::size_t>(grid_.count());
    return values_.subspan(static_cast<std::size_t>(which) * count, count);
  }
  void point(const float* first, std::int64_t step) {
    loop_.low = first;
    loop_.high = first + step;
    loop_.base = first + 2 * step;
    loop_.width = first + 3 * step;
    loop_.factor = first + 4 * step;
  }

  ScopeGrid grid_;
  Shape shape_;
  std::span<float> values_;
  std::span<float> spread_;
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
  return Frame::workspace_bytes(grid(shape));
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
    DeviceTable<MinMaxLaunchers>::get("minmax").encode(in, scopes, options_, out.data(), context);
    return size;
  }
  Scratch scratch(context);
  Frame frame(scopes, in.shape, scratch);
  scope_min_max(in, scopes, frame.low(), frame.high(), context.threads);
  std::memcpy(out.data(), frame.low().data(), metadata / 2);
  std::memcpy(out.data() + metadata / 2, frame.high().data(), metadata / 2);
  frame.derive(options_.bits);

  const Purpose purpose = context.second_round ? Purpose::kSecondRounding : Purpose::kRounding;
  const Stream stream = context.random(purpose, true);
  for_each_block(n, frame.threads(context), [&](std::int64_t begin, std::int64_t count) {
    std::array<float, kBlockElements> buffer;
    std::array<std::uint16_t, kBlockElements> draws;
    std::array<std::uint8_t, kBlockElements> codes;
    const float* x = load_block(in, begin, count, buffer.data());
    if (options_.is_stochastic)
      kernels::fill_draw16(stream, static_cast<std::uint64_t>(context.element_offset + begin),
                           count, draws.data());
    Frame own = frame;  // its loop points at the piece
    own.for_each_piece(begin, begin + count,
                       [&](std::int64_t first, std::int64_t last, kernels::MinMaxLoop& loop) {
                         const std::int64_t at = first - begin;
                         if (options_.is_stochastic) loop.draws = draws.data() + at;
                         kernels::minmax_encode(x + at, last - first, loop, codes.data() + at);
                       });
    kernels::pack_bits(codes.data(), count, options_.bits,
                       out.data() + metadata + begin / 8 * options_.bits);
  });
  return size;
}

void MinMax::decode_into(std::span<const std::byte> payload, const Shape& shape,
                         std::span<float> out, const Context& context, bool is_accumulated) const {
  const std::int64_t n = shape.elements();
  const ScopeGrid scopes = grid(shape);
  const std::size_t metadata = static_cast<std::size_t>(scopes.count()) * 8;
  expect_payload_bytes(payload, metadata + packed_bytes(n, options_.bits), "minmax");
  if (n == 0) return;
  Scratch scratch(context);
  Frame frame(scopes, shape, scratch);
  std::memcpy(frame.low().data(), payload.data(), metadata / 2);
  std::memcpy(frame.high().data(), payload.data() + metadata / 2, metadata / 2);
  frame.derive(options_.bits);
  for_each_block(n, frame.threads(context), [&](std::int64_t begin, std::int64_t count) {
    std::array<std::uint8_t, kBlockElements> codes;
    kernels::unpack_bits(payload.data() + metadata + begin / 8 * options_.bits, count,
                         options_.bits, codes.data());
    Frame own = frame;  // its loop points at the piece
    own.for_each_piece(begin, begin + count,
                       [&](std::int64_t first, std::int64_t last, kernels::MinMaxLoop& loop) {
                         kernels::minmax_decode(codes.data() + (first - begin), last - first, loop,
                                                is_accumulated, out.data() + first);
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

void MinMax::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                    std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, false},
                            context);
  decode_into(payload, shape, out, context, false);
}

void MinMax::decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                               std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, true},
                            context);
  decode_into(payload, shape, out, context, true);
}

}  // namespace tersor::compressors
