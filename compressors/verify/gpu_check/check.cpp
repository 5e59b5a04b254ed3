// SPDX-License-Identifier: Apache-2.0
#include "compressors/verify/gpu_check/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "common/error.hpp"
#include "compressors/bench/material.hpp"

namespace tersor::compressors::gpu_check {
namespace {

using nlohmann::json;

constexpr std::uint32_t kSenders = 3;
constexpr std::uint32_t kSummed = 4;
constexpr std::size_t kHotLimit = std::size_t{16} << 20;  // beyond it no cache holds the tensor
constexpr std::int64_t kHidden = 1024;

/// Shapes whose bytes are compared: sizes that no block divides, and a usual one.
const Shape kShapes[] = {{1, 1, 1}, {3, 5, 7}, {2, 3, 129}, {3, 37, 1025}, {1, 512, 1024}};

/// A made activation tensor of one rank's step; every 97th value is one that kernels get wrong.
bench::Material material_of(const Shape& shape, DType dtype, std::uint32_t salt) {
  bench::Material material = bench::make_material(shape, dtype);
  const float specials[] = {0.0f,   -0.0f,   65504.0f, -70000.0f, 1e-40f,
                            -1e-7f, 3.4e38f, INFINITY, -INFINITY, NAN};
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  widen(dtype, material.bits.data(), values);
  std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(salt % values.size()),
              values.end());
  // The first message has finite values alone, which keeps its scales alive.
  if (salt > 0)
    for (std::size_t i = 13 * salt, n = 0; i < values.size(); i += 97, ++n)
      values[i] = specials[n % std::size(specials)];
  round_to(dtype, values, material.bits.data());
  return material;
}

Context context_of(std::uint32_t rank, std::uint32_t step,
                   std::span<const std::int64_t> sample_ids) {
  Context context;
  context.seed = 11;
  context.step = step;
  context.rank = rank;
  context.ranks = kSenders;
  context.sample_ids = sample_ids;
  return context;
}

std::string first_difference(std::span<const std::byte> expected, std::span<const std::byte> got) {
  const auto [e, g] = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
  if (e == expected.end() && g == got.end()) return "";
  if (e == expected.end() || g == got.end())
    return std::to_string(got.size()) + " bytes, the CPU writes " + std::to_string(expected.size());
  return "byte " + std::to_string(e - expected.begin()) + " of " + std::to_string(expected.size()) +
         " is " + std::to_string(std::to_integer<int>(*g)) + ", the CPU writes " +
         std::to_string(std::to_integer<int>(*e));
}

/// One codec at one site, on the device and on the CPU beside it.
class Site {
 public:
  Site(CheckDevice& device, const Codec& codec, const Shape& shape, DType dtype)
      : device_(device), codec_(codec), shape_(shape), dtype_(dtype) {
    Context context = context_of(0, 0, {});
    context.device = Device::kCuda;
    workspace_ = {device, codec.workspace_bytes(shape, dtype, context)};
  }

  std::unique_ptr<State> device_state() const {
    auto state = codec_.make_state(shape_, dtype_, kSenders);
    if (state) state->move_to(device_);
    return state;
  }
  std::unique_ptr<State> host_state() const { return codec_.make_state(shape_, dtype_, kSenders); }
  Context on_stream(Context context, void* stream) const {
    context.device = Device::kCuda;
    context.stream = stream;
    context.workspace = {workspace_.data(), workspace_.bytes()};
    return context;
  }
  std::size_t elements() const { return static_cast<std::size_t>(shape_.elements()); }

  std::vector<std::byte> encode_on_device(const bench::Material& in, State* state,
                                          const Context& context) const {
    const std::size_t room = codec_.payload_bytes(shape_, dtype_, context, 0, state);
    const DeviceArray d_in(device_, in.bits.size());
    const DeviceArray d_out(device_, room);
    d_in.copy_in(in.bits.data());
    std::size_t bytes = 0;
    device_.run([&](void* stream) {
      bytes = codec_.encode(0, {d_in.data(), shape_, dtype_}, {d_out.data(), room}, state,
                            on_stream(context, stream));
    });
    return taken(d_out, bytes);
  }

  template <class Call>  // call(payload spans on the device, output on the device, stream)
  std::vector<std::byte> decode_on_device(const std::vector<std::vector<std::byte>>& payloads,
                                          std::span<const std::byte> out, Call call) const {
    std::vector<DeviceArray> arrays;
    std::vector<std::span<const std::byte>> spans;
    for (const auto& payload : payloads) {
      arrays.emplace_back(device_, payload.size());
      arrays.back().copy_in(payload.data());
      spans.emplace_back(arrays.back().data(), payload.size());
    }
    const DeviceArray d_out(device_, out.size());
    d_out.copy_in(out.data());
    device_.run([&](void* stream) { call(spans, d_out.data(), stream); });
    return taken(d_out, out.size());
  }

 private:
  static std::vector<std::byte> taken(const DeviceArray& array, std::size_t bytes) {
    std::vector<std::byte> all(array.bytes());
    array.copy_out(all.data());
    all.resize(bytes);
    return all;
  }

  CheckDevice& device_;
  const Codec& codec_;
  Shape shape_;
  DType dtype_;
  DeviceArray workspace_;
};

std::span<float> floats(std::vector<std::byte>& bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

/// What went wrong, by operation; empty where the bytes are equal.
struct Differences {
  std::string encode, decode, accumulate, sum;
};

void note(std::string& place, const std::string& when, const std::string& what) {
  if (place.empty() && !what.empty()) place = when + what;
}

/// Three messages of one sender, with what both ends keep; then the sum of three senders'.
Differences compare(CheckDevice& device, const Codec& codec, const Shape& shape, DType dtype) {
  Differences found;
  const Site site(device, codec, shape, dtype);
  const auto sender = site.host_state(), receiver = site.host_state();
  const auto d_sender = site.device_state(), d_receiver = site.device_state();
  for (std::uint32_t step = 0; step < 3; ++step) {
    const std::string when = "message " + std::to_string(step) + ": ";
    const bench::Material in = material_of(shape, dtype, step);
    const Context context = context_of(1, step, in.ids);
    std::vector<std::byte> payload(codec.payload_bytes(shape, dtype, context, 0, sender.get()));
    payload.resize(codec.encode(0, in.view(), payload, sender.get(), context));
    note(found.encode, when,
         first_difference(payload, site.encode_on_device(in, d_sender.get(), context)));

    std::vector<std::byte> bits(in.bits.size());
    if (step < 2) {
      codec.decode_bits(payload, shape, dtype, bits.data(), receiver.get(), context);
      const auto d_bits = site.decode_on_device(
          {payload}, std::vector<std::byte>(bits.size()), [&](auto spans, std::byte* out, void* s) {
            codec.decode_bits(spans[0], shape, dtype, out, d_receiver.get(),
                              site.on_stream(context, s));
          });
      note(found.decode, when, first_difference(bits, d_bits));
    } else {
      std::vector<std::byte> start(site.elements() * sizeof(float));
      for (float& x : floats(start)) x = 0.25f;
      std::vector<std::byte> added = start;
      codec.decode_accumulate(payload, shape, dtype, floats(added), receiver.get(), context);
      const auto d_added =
          site.decode_on_device({payload}, start, [&](auto spans, std::byte* out, void* s) {
            codec.decode_accumulate(spans[0], shape, dtype,
                                    {reinterpret_cast<float*>(out), site.elements()},
                                    d_receiver.get(), site.on_stream(context, s));
          });
      note(found.accumulate, when, first_difference(added, d_added));
    }
  }

  std::vector<std::vector<std::byte>> payloads;
  std::vector<std::int64_t> ids;
  for (std::uint32_t rank = 0; rank < kSenders; ++rank) {
    const bench::Material in = material_of(shape, dtype, rank);
    ids = in.ids;
    const auto state = site.host_state();
    const Context context = context_of(rank, 0, in.ids);
    payloads.emplace_back(codec.payload_bytes(shape, dtype, context, 0, state.get()));
    payloads.back().resize(codec.encode(0, in.view(), payloads.back(), state.get(), context));
  }
  if (codec.exchange(0) == Exchange::kAllReduce) payloads.resize(1);  // arrives as one array
  const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
  const auto fresh = site.host_state(), d_fresh = site.device_state();
  const Context context = context_of(0, 0, ids);
  std::vector<std::byte> sum(site.elements() * sizeof(float));
  codec.combine(received, shape, dtype, floats(sum), fresh.get(), context);
  const auto d_sum = site.decode_on_device(
      payloads, std::vector<std::byte>(sum.size()), [&](auto spans, std::byte* out, void* s) {
        codec.combine(spans, shape, dtype, {reinterpret_cast<float*>(out), site.elements()},
                      d_fresh.get(), site.on_stream(context, s));
      });
  note(found.sum, "", first_difference(sum, d_sum));
  return found;
}

json case_of(const char* kind, const std::string& operation, const Codec& codec, DType dtype,
             const Shape& shape) {
  return {{"kind", kind},
          {"operation", operation},
          {"spec", codec.canonical()},
          {"dtype", to_string(dtype)},
          {"shape", {shape.samples, shape.tokens, shape.hidden}}};
}

json with_status(json c, const std::string& status, const std::string& reason) {
  c["status"] = status;
  c["reason"] = reason;
  return c;
}

void add_equality(json& cases, CheckDevice& device, const Codec& codec, const Shape& shape,
                  DType dtype) {
  const auto add = [&](const char* operation, std::uint32_t ranks, const std::string& difference) {
    json c = case_of("equality", operation, codec, dtype, shape);
    c["ranks"] = ranks;
    c["equal"] = difference.empty();
    c["status"] = difference.empty() ? "ok" : "failed";
    if (!difference.empty()) c["reason"] = difference;
    cases.push_back(c);
  };
  const Differences found = compare(device, codec, shape, dtype);
  add("encode", 1, found.encode);
  add("decode", 1, found.decode);
  add("decode_accumulate", 1, found.accumulate);
  add("decode_accumulate", kSenders, found.sum);
}

/// The tensor on the device, a repeated piece of made values.
DeviceArray filled(CheckDevice& device, std::size_t bytes, const bench::Material& piece) {
  std::vector<std::byte> host(bytes);
  for (std::size_t at = 0; at < bytes; at += piece.bits.size())
    std::memcpy(host.data() + at, piece.bits.data(), std::min(piece.bits.size(), bytes - at));
  DeviceArray array(device, bytes);
  array.copy_in(host.data());
  return array;
}

void add_speed(json& cases, CheckDevice& device, const Codec& codec, DType dtype, std::size_t bytes,
               const bench::Material& piece, double seconds) {
  const auto rows = static_cast<std::int64_t>(bytes / item_bytes(dtype)) / kHidden;
  const Shape shape{1, rows, kHidden};
  const Site site(device, codec, shape, dtype);
  const std::int64_t id = 0;
  const Context context = context_of(0, 0, {&id, 1});
  const DeviceArray in = filled(device, bytes, piece);
  const DeviceArray copied(device, bytes);
  const DeviceArray out(device, site.elements() * sizeof(float));
  const auto sender = site.device_state(), receiver = site.device_state();
  // Two messages first: the size of a stateful codec's payload then stays.
  DeviceArray payload;
  std::size_t used = 0;
  const auto encode = [&](void* stream) {
    used = codec.encode(0, {in.data(), shape, dtype}, {payload.data(), payload.bytes()},
                        sender.get(), site.on_stream(context, stream));
  };
  const auto decode = [&](void* stream) {
    codec.decode({payload.data(), used}, shape, dtype,
                 {reinterpret_cast<float*>(out.data()), site.elements()}, receiver.get(),
                 site.on_stream(context, stream));
  };
  for (int message = 0; message < 2; ++message) {
    payload = {device, codec.payload_bytes(shape, dtype, context, 0, sender.get())};
    device.run(encode);
    device.run(decode);
  }
  std::vector<DeviceArray> others;
  std::vector<std::span<const std::byte>> received(kSummed, {payload.data(), used});
  std::vector<std::byte> bits(payload.bytes());
  payload.copy_out(bits.data());
  for (std::uint32_t rank = 1; rank < kSummed; ++rank) {
    others.emplace_back(device, payload.bytes());
    others.back().copy_in(bits.data());
    received[rank] = {others.back().data(), used};
  }
  const auto sum = [&](void* stream) {
    codec.combine(received, shape, dtype, {reinterpret_cast<float*>(out.data()), site.elements()},
                  receiver.get(), site.on_stream(context, stream));
  };

  const auto add = [&](const char* operation, std::uint32_t ranks, const Work& work) {
    for (const bool is_cold : {true, false}) {
      if (!is_cold && bytes > kHotLimit) continue;
      const Samples samples = device.time(work, in.data(), copied.data(), bytes, is_cold, seconds);
      json c = case_of("speed", operation, codec, dtype, shape);
      c["mode"] = is_cold ? "cold" : "hot";
      c["ranks"] = ranks;
      c["raw_bytes"] = bytes;
      c["payload_bytes"] = used;
      c["times_ns"] = samples.work_ns;
      c["copy_times_ns"] = samples.copy_ns;
      c["status"] = "ok";
      cases.push_back(c);
    }
  };
  add("encode", 1, encode);
  add("decode", 1, decode);
  const bool is_sum_of_one = codec.exchange(0) == Exchange::kAllReduce;
  if (!is_sum_of_one && codec.properties().state != StateKind::kSample)
    add("decode_accumulate", kSummed, sum);
}

/// Why a codec is not checked at all; empty where it is.
std::string obstacle(const Codec& codec) {
  if (codec.properties().learned) return "its weights live in the workload";
  if (codec.rounds() > 1) return "crosses in several rounds: see the golden folder's collectives";
  if (!codec.supports(Device::kCuda)) return "no kernels in this build";
  return "";
}

template <class Attempt>
void attempt(json& cases, json failed, Attempt work) {
  try {
    work();
  } catch (const Error& error) {
    const bool is_skip = error.kind() == ErrorKind::kUnsupported ||
                         error.kind() == ErrorKind::kSpec || error.kind() == ErrorKind::kUsage;
    cases.push_back(with_status(std::move(failed), is_skip ? "skipped" : "failed", error.what()));
  }
}

}  // namespace

json check(CheckDevice& device, const CheckOptions& options) {
  json cases = json::array();
  std::vector<bench::Material> pieces;
  for (const DType dtype : options.dtypes) {
    const auto most = options.sizes.empty()
                          ? std::size_t{0}
                          : *std::max_element(options.sizes.begin(), options.sizes.end());
    const std::size_t bytes = std::min(most, std::size_t{8} << 20);
    const auto rows = static_cast<std::int64_t>(bytes / item_bytes(dtype)) / kHidden;
    pieces.push_back(bench::make_material({1, std::max<std::int64_t>(1, rows), kHidden}, dtype));
  }
  for (std::size_t at = 0; at < options.specs.size(); ++at) {
    if (options.progress) options.progress(options.specs[at], at, options.specs.size());
    const auto codec = make_codec(options.specs[at]);
    const std::string why = obstacle(*codec);
    if (!why.empty()) {
      cases.push_back(
          with_status(case_of("equality", "encode", *codec, options.dtypes.front(), kShapes[0]),
                      "skipped", why));
      continue;
    }
    for (std::size_t d = 0; d < options.dtypes.size(); ++d) {
      const DType dtype = options.dtypes[d];
      for (const Shape& shape : kShapes)
        attempt(cases, case_of("equality", "encode", *codec, dtype, shape),
                [&] { add_equality(cases, device, *codec, shape, dtype); });
      for (const std::size_t bytes : options.sizes) {
        const auto rows = static_cast<std::int64_t>(bytes / item_bytes(dtype)) / kHidden;
        attempt(cases, case_of("speed", "encode", *codec, dtype, {1, rows, kHidden}), [&] {
          add_speed(cases, device, *codec, dtype, bytes, pieces[d], options.seconds);
        });
      }
    }
  }
  return cases;
}

}  // namespace tersor::compressors::gpu_check
