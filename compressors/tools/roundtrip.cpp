// SPDX-License-Identifier: Apache-2.0
#include "compressors/tools/roundtrip.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/error.hpp"

namespace tersor::compressors {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMostCalls = 9;
constexpr std::int64_t kMostNanoseconds = 200'000'000;

std::int64_t nanoseconds_of(auto&& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

/// `prepare` runs before each call and is not timed.
std::int64_t median_nanoseconds(auto&& prepare, auto&& call) {
  prepare();
  std::int64_t total = nanoseconds_of(call);
  std::vector<std::int64_t> times;
  do {
    prepare();
    times.push_back(nanoseconds_of(call));
    total += times.back();
  } while (times.size() < kMostCalls && total < kMostNanoseconds);
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

ErrorMeasures measure_errors(std::span<const float> original, std::span<const float> decoded) {
  if (original.empty()) return {};
  double largest = 0;
  double error = 0;
  double norm_x = 0;
  double norm_y = 0;
  double dot = 0;
  for (std::size_t i = 0; i < original.size(); ++i) {
    const double x = original[i];
    const double y = decoded[i];
    const double difference = std::abs(x - y);
    if (!(difference <= largest)) largest = difference;  // a NaN stays
    error += difference * difference;
    norm_x += x * x;
    norm_y += y * y;
    dot += x * y;
  }
  const double cosine = dot / (std::sqrt(norm_x) * std::sqrt(norm_y));
  return {std::isfinite(error) ? finite(largest) : std::nullopt,
          finite(std::sqrt(error) / std::sqrt(norm_x)), finite(cosine)};
}

RoundTrip round_trip(const Codec& codec, const TensorView& in, const Context& given) {
  RoundTrip trip;
  const auto n = static_cast<std::size_t>(in.shape.elements());
  Context context = given;
  std::vector<std::byte> workspace(codec.workspace_bytes(in.shape, in.dtype, context));
  context.workspace = workspace;

  std::unique_ptr<State> state = codec.make_state(in.shape, in.dtype, context.ranks);
  const auto fresh_state = [&] { state = codec.make_state(in.shape, in.dtype, context.ranks); };
  const std::size_t bytes = codec.payload_bytes(in.shape, in.dtype, context, 0, state.get());
  trip.metadata_bytes = codec.metadata_bytes(in.shape, in.dtype, context, 0, state.get());
  trip.payload.resize(bytes);
  std::size_t written = 0;
  trip.encode_ns = median_nanoseconds(
      fresh_state, [&] { written = codec.encode(0, in, trip.payload, state.get(), context); });
  trip.payload.resize(written);

  std::vector<std::byte> bits(n * item_bytes(in.dtype));
  trip.decode_ns = median_nanoseconds(fresh_state, [&] {
    codec.decode_bits(trip.payload, in.shape, in.dtype, bits.data(), state.get(), context);
  });
  trip.decoded.resize(n);
  widen(in.dtype, bits.data(), trip.decoded);
  std::vector<float> original(n);
  widen(in.dtype, in.data, original);
  trip.errors = measure_errors(original, trip.decoded);
  if (!trip.payload.empty())
    trip.ratio = static_cast<double>(in.bytes()) / static_cast<double>(trip.payload.size());
  return trip;
}

}  // namespace tersor::compressors
