// SPDX-License-Identifier: Apache-2.0
#include "compressors/tools/roundtrip.hpp"

#include <algorithm>
#include <cmath>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/statistics.hpp"

namespace tersor::compressors {
namespace {

constexpr int kMostCalls = 9;
constexpr std::int64_t kMostNanoseconds = 200'000'000;

std::int64_t nanoseconds_of(auto&& call) {
  const std::int64_t begin = steady_ns();
  call();
  return steady_ns() - begin;
}

/// `prepare` runs before each call and is not timed.
std::int64_t median_nanoseconds(auto&& prepare, auto&& call) {
  prepare();
  std::int64_t total = nanoseconds_of(call);
  std::vector<double> times;
  do {
    prepare();
    const std::int64_t time = nanoseconds_of(call);
    times.push_back(static_cast<double>(time));
    total += time;
  } while (times.size() < kMostCalls && total < kMostNanoseconds);
  std::sort(times.begin(), times.end());
  return std::llround(quantile(times, 0.5));
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// A message on its way: one payload, or the arrays of all rounds of all-reduce.
class Message {
 public:
  Message(const Codec& codec, const TensorView& in) : codec_(codec), in_(in) {
    if (codec.rounds() > 1 && codec.exchange(0) == Exchange::kAllReduce)
      payloads_.resize(static_cast<std::size_t>(codec.rounds()));
  }

  bool is_reduced() const { return payloads_.size() > 1; }

  /// A new state and room for the payloads; not timed.
  void start(const Context& context) {
    state_ = codec_.make_state(in_.shape, in_.dtype, context.ranks);
    for (int round = 0; round < rounds(); ++round)
      of(round).resize(codec_.payload_bytes(in_.shape, in_.dtype, context, round, state_.get()));
  }

  void encode(const Context& context) {
    for (int round = 0; round < rounds(); ++round) {
      std::vector<std::byte>& payload = of(round);
      payload.resize(codec_.encode(round, in_, payload, state_.get(), context));
      if (round + 1 == rounds()) break;
      const std::span<const std::byte> sum(payload);
      codec_.absorb(round, {&sum, 1}, in_.shape, in_.dtype, state_.get(), context);
    }
  }

  /// The state that a decode begins with: a new one, or that of the rounds; not timed.
  void arrive(const Context& context) {
    if (!is_reduced()) state_ = codec_.make_state(in_.shape, in_.dtype, context.ranks);
  }

  void decode(void* bits, const Context& context) {
    codec_.decode_bits(payloads_.back(), in_.shape, in_.dtype, bits, state_.get(), context);
  }

  std::size_t metadata_bytes(const Context& context) const {
    std::size_t bytes = 0;
    for (int round = 0; round < rounds(); ++round)
      bytes += codec_.metadata_bytes(in_.shape, in_.dtype, context, round, state_.get());
    return bytes;
  }

  std::vector<std::byte> payload() const {
    std::vector<std::byte> all;
    for (const auto& payload : payloads_) all.insert(all.end(), payload.begin(), payload.end());
    return all;
  }

 private:
  int rounds() const { return static_cast<int>(payloads_.size()); }
  std::vector<std::byte>& of(int round) { return payloads_[static_cast<std::size_t>(round)]; }

  const Codec& codec_;
  const TensorView& in_;
  std::unique_ptr<State> state_;
  std::vector<std::vector<std::byte>> payloads_ = std::vector<std::vector<std::byte>>(1);
};

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

RoundTrip round_trip(const Codec& given_codec, const TensorView& in, const Context& given) {
  const Codec& codec = given_codec.effective(in.shape, in.dtype);
  Context context = given;
  Message message(codec, in);
  if (message.is_reduced()) {
    context.rank = 0;
    context.ranks = 1;
  }
  std::vector<std::byte> workspace(codec.workspace_bytes(in.shape, in.dtype, context));
  context.workspace = workspace;

  RoundTrip trip;
  message.start(context);
  trip.metadata_bytes = message.metadata_bytes(context);
  trip.encode_ns =
      median_nanoseconds([&] { message.start(context); }, [&] { message.encode(context); });
  trip.payload = message.payload();

  const auto n = static_cast<std::size_t>(in.shape.elements());
  std::vector<std::byte> bits(n * item_bytes(in.dtype));
  trip.decode_ns = median_nanoseconds([&] { message.arrive(context); },
                                      [&] { message.decode(bits.data(), context); });
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
