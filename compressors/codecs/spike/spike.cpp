// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/spike/spike.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "compressors/api/workspace.hpp"
#include "compressors/codecs/spike/spike_kernels.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

constexpr std::int64_t kLongestGroup = 256;

CodecInfo spike_info() {
  CodecInfo info;
  info.name = "spike";
  info.summary = "quantised groups whose extreme values stay float16";
  info.source = "FlashCommunication V2, 2025";
  info.parameters = {
      Parameter::integer("bits", 4, 1, 8, "bits per value"),
      Parameter::integer("group", 128, 1, kLongestGroup, "values of a group along hidden"),
      Parameter::integer("reserve", 1, 1, 127, "smallest and largest values kept, each"),
  };
  info.strength = Strength{"bits"};
  info.make = [](const Arguments& a) {
    SpikeOptions o;
    o.bits = static_cast<int>(a.integer("bits"));
    o.group = a.integer("group");
    o.reserve = a.integer("reserve");
    if (2 * o.reserve >= o.group)
      throw Error(ErrorKind::kSpec, "spike: 2 reserve = " + std::to_string(2 * o.reserve) +
                                        " is not less than group = " + std::to_string(o.group));
    return std::make_shared<Spike>(o, a.canonical());
  };
  info.examples = {"spike(bits=1)", "spike(bits=2,group=32)", "spike(bits=5,group=24,reserve=3)",
                   "spike(bits=8,group=256,reserve=2)"};
  return info;
}

const CodecRegistrar kRegistrar(spike_info());

// One group on its way: values with NaN as 0 and -0 as +0, and which of them are reserved.
struct Group {
  std::array<float, kLongestGroup> values;
  std::array<bool, kLongestGroup> is_reserved;
  std::array<std::uint8_t, kLongestGroup> at;  // the reserved ones, in payload order
  std::int64_t length = 0;
  std::int64_t reserved = 0;
};

// The `count` smallest (or largest) of those not yet taken, ties to the lowest position, written in
// ascending order of (value, position).
template <bool kSmallest>
void take_extremes(Group& g, std::int64_t count) {
  std::uint8_t* const first = g.at.data() + g.reserved;
  for (std::int64_t c = 0; c < count; ++c) {
    std::int64_t best = -1;
    for (std::int64_t i = 0; i < g.length; ++i) {
      if (g.is_reserved[static_cast<std::size_t>(i)]) continue;
      const float v = g.values[static_cast<std::size_t>(i)];
      if (best < 0 || (kSmallest ? v < g.values[static_cast<std::size_t>(best)]
                                 : v > g.values[static_cast<std::size_t>(best)]))
        best = i;
    }
    g.is_reserved[static_cast<std::size_t>(best)] = true;
    g.at[static_cast<std::size_t>(g.reserved++)] = static_cast<std::uint8_t>(best);
  }
  std::sort(first, first + count, [&](std::uint8_t a, std::uint8_t b) {
    return g.values[a] < g.values[b] || (g.values[a] == g.values[b] && a < b);
  });
}

void find_reserved(Group& g, std::int64_t reserve) {
  g.reserved = 0;
  std::fill_n(g.is_reserved.begin(), g.length, g.length <= 2 * reserve);
  if (g.length <= 2 * reserve) {
    g.reserved = g.length;
    std::iota(g.at.begin(), g.at.begin() + g.length, std::uint8_t{0});
    return;
  }
  take_extremes<true>(g, reserve);
  take_extremes<false>(g, reserve);
}

struct Limits {
  std::uint16_t minimum = 0;  // float16
  std::uint16_t step = 0;     // float16; negative where the minimum rounds above the maximum
};

Limits find_limits(const Group& g, float top) {
  float low = std::numeric_limits<float>::infinity();
  float high = -low;
  for (std::size_t i = 0; i < static_cast<std::size_t>(g.length); ++i) {
    if (g.is_reserved[i] || !is_finite(g.values[i])) continue;
    low = std::min(low, g.values[i]);
    high = std::max(high, g.values[i]);
  }
  if (low > high) low = high = 0.0f;
  const std::uint16_t minimum = scale_to_float16(low);
  return {minimum, scale_to_float16((high - float16_to_float32(minimum)) / top)};
}

void encode_group(const Group& g, const Limits& limits, float top, std::uint8_t* codes) {
  const float m = float16_to_float32(limits.minimum);
  const float s = float16_to_float32(limits.step);
  for (std::size_t i = 0; i < static_cast<std::size_t>(g.length); ++i) {
    float v = s == 0.0f || g.is_reserved[i] ? 0.0f : (g.values[i] - m) / s;
    v = v > 0.0f ? v : 0.0f;
    v = v < top ? v : top;
    codes[i] = static_cast<std::uint8_t>(round_nearest_even(v));
  }
}

}  // namespace

Spike::Spike(const SpikeOptions& options, std::string canonical)
    : LeafCodec(std::move(canonical), Exchange::kGather), options_(options) {}

Properties Spike::properties() const {
  Properties p;
  // Values beyond 65,504 saturate: README has the bound between float16's limits.
  p.error_bound_of_absmax = 2.0;
  p.token_local = true;
  p.sample_local = true;
  return p;
}

std::int64_t Spike::reserved_before(std::int64_t scope, const Shape& shape) const {
  if (scope == 0) return 0;
  const ScopeGrid groups = grid(shape);
  const std::int64_t tail = shape.hidden % groups.group();
  const std::int64_t full = shape.hidden / groups.group();
  const std::int64_t per_row = full + (tail > 0 ? 1 : 0);
  const std::int64_t in_row = full * reserved_of(groups.group()) + reserved_of(tail);
  return scope / per_row * in_row + scope % per_row * reserved_of(groups.group());
}

std::int64_t Spike::reserved_of_all(const Shape& shape) const {
  return reserved_before(grid(shape).count(), shape);
}

LeafCodec::Sizes Spike::sizes(const Shape& shape, DType) const {
  const auto groups = static_cast<std::size_t>(grid(shape).count());
  const auto reserved = static_cast<std::size_t>(reserved_of_all(shape));
  return {4 * groups + 3 * reserved,
          static_cast<std::size_t>(options_.bits) * packed_bytes(shape.elements(), 1)};
}

SpikeLayout Spike::layout(const Shape& shape) const {
  return {grid(shape).count(), reserved_of_all(shape),
          static_cast<std::int64_t>(packed_bytes(shape.elements(), 1))};
}

bool Spike::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<SpikeLaunchers>::is_installed();
}

std::size_t Spike::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  if (context.device == Device::kCuda && are_spike_groups_whole(options_, shape)) return 0;
  return Scratch::bytes_for<std::uint8_t>(shape.elements());
}

void Spike::read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                           DType, const DecodeTarget& target, const Context& context) const {
  DeviceTable<SpikeLaunchers>::get("spike").decode(payloads, shape, options_, layout(shape), target,
                                                   context);
}

std::size_t Spike::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                        std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "spike");
  DeviceTable<SpikeLaunchers>::get("spike").encode(in, feedback, options_, layout(in.shape),
                                                   out.data(), context);
  return size;
}

void Spike::write(const TensorView& in, std::byte* out, const Context& context) const {
  if (context.device == Device::kCuda)
    return DeviceTable<SpikeLaunchers>::get("spike").encode(in, {}, options_, layout(in.shape), out,
                                                            context);
  const ScopeGrid groups = grid(in.shape);
  const std::int64_t n = in.shape.elements();
  const auto top = static_cast<float>((1 << options_.bits) - 1);
  Scratch scratch(context);
  const auto codes = scratch.take<std::uint8_t>(n);
  std::byte* const minima = out;
  std::byte* const steps = minima + 2 * groups.count();
  std::byte* const values = steps + 2 * groups.count();
  std::byte* const positions = values + 2 * reserved_of_all(in.shape);
  for_each_share(
      groups.count(), n, context.threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        std::array<float, kLongestGroup> buffer;
        Group g;
        std::int64_t reserved = reserved_before(first, in.shape);
        for (std::int64_t s = first; s < last; ++s) {
          const ScopeSlice slice = groups[s];
          const float* x = load_block(in, slice.begin, slice.length, buffer.data());
          g.length = slice.length;
          for (std::size_t i = 0; i < static_cast<std::size_t>(g.length); ++i)
            g.values[i] = nan_to_zero(x[i]) + 0.0f;
          find_reserved(g, options_.reserve);
          const Limits limits = find_limits(g, top);
          store(minima + 2 * s, limits.minimum);
          store(steps + 2 * s, limits.step);
          for (std::size_t r = 0; r < static_cast<std::size_t>(g.reserved); ++r, ++reserved) {
            store(values + 2 * reserved, scale_to_float16(g.values[g.at[r]]));
            store(positions + reserved, g.at[r]);
          }
          encode_group(g, limits, top, codes.data() + slice.begin);
        }
      });
  std::byte* const planes = positions + reserved_of_all(in.shape);
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    std::byte* plane = planes + begin / 8;
    for (int bit = options_.bits - 1; bit >= 0; --bit) {
      kernels::gather_plane(codes.data() + begin, count, bit, plane);
      plane += packed_bytes(n, 1);
    }
  });
}

void Spike::read(const std::byte* payload, const Shape& shape, DType, bool is_accumulated,
                 float* out, const Context& context) const {
  const ScopeGrid groups = grid(shape);
  const std::int64_t n = shape.elements();
  Scratch scratch(context);
  const auto codes = scratch.take<std::uint8_t>(n);
  const std::byte* const minima = payload;
  const std::byte* const steps = minima + 2 * groups.count();
  const std::byte* const values = steps + 2 * groups.count();
  const std::byte* const positions = values + 2 * reserved_of_all(shape);
  const std::byte* const planes = positions + reserved_of_all(shape);
  for_each_block(n, context.threads, [&](std::int64_t begin, std::int64_t count) {
    std::fill_n(codes.data() + begin, count, std::uint8_t{0});
    const std::byte* plane = planes + begin / 8;
    for (int bit = options_.bits - 1; bit >= 0; --bit) {
      kernels::scatter_plane(plane, count, bit, codes.data() + begin);
      plane += packed_bytes(n, 1);
    }
  });
  for_each_share(
      groups.count(), n, context.threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        std::array<float, kLongestGroup> decoded;
        std::int64_t reserved = reserved_before(first, shape);
        for (std::int64_t s = first; s < last; ++s) {
          const ScopeSlice slice = groups[s];
          const float m = float16_to_float32(load<std::uint16_t>(minima + 2 * s));
          const float step = float16_to_float32(load<std::uint16_t>(steps + 2 * s));
          for (std::int64_t i = 0; i < slice.length; ++i)
            decoded[static_cast<std::size_t>(i)] =
                m + static_cast<float>(codes[static_cast<std::size_t>(slice.begin + i)]) * step;
          for (std::int64_t r = 0; r < reserved_of(slice.length); ++r, ++reserved) {
            const auto at = load<std::uint8_t>(positions + reserved);
            if (at >= slice.length)
              throw Error(ErrorKind::kPayload, "spike: position " + std::to_string(at) +
                                                   " is outside its group of " +
                                                   std::to_string(slice.length));
            decoded[at] = float16_to_float32(load<std::uint16_t>(values + 2 * reserved));
          }
          float* to = out + slice.begin;
          for (std::int64_t i = 0; i < slice.length; ++i)
            to[i] = is_accumulated ? to[i] + decoded[static_cast<std::size_t>(i)]
                                   : decoded[static_cast<std::size_t>(i)];
        }
      });
}

}  // namespace tersor::compressors
