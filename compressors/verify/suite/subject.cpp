// SPDX-License-Identifier: Apache-2.0
#include "compressors/verify/suite/subject.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors::suite {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr std::byte kGuard{0x5C};

bool guards_hold(const std::vector<std::byte>& buffer) {
  const auto is_guard = [](std::byte byte) { return byte == kGuard; };
  return std::all_of(buffer.begin(), buffer.begin() + kGuardBytes, is_guard) &&
         std::all_of(buffer.end() - kGuardBytes, buffer.end(), is_guard);
}

/// Sum of twelve uniform draws: near enough to normal, the same on every machine.
float normal_draw(const Stream& stream, std::uint64_t i) {
  float sum = -6.0f;
  for (std::uint64_t j = 0; j < 12; ++j)
    sum += static_cast<float>(stream.draw32(i * 12 + j) >> 8) * 0x1p-24f;
  return sum;
}

float special_value(const Stream& stream, std::uint64_t i) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float specials[] = {std::numeric_limits<float>::quiet_NaN(),
                            kInf,
                            -kInf,
                            70000.0f,
                            -70000.0f,
                            3.4028235e38f,
                            -3.4028235e38f,
                            1e-45f,
                            -1e-40f,
                            0.0f,
                            -0.0f,
                            6e-8f};
  const std::uint32_t pick = stream.draw32(i) % 24;
  return pick < 12 ? specials[pick] : normal_draw(stream, i + 1'000'000);
}

}  // namespace

const char* to_string(Fill fill) {
  switch (fill) {
    case Fill::kNormal: return "normal";
    case Fill::kZeros: return "zeros";
    case Fill::kConstant: return "constant";
    case Fill::kSpike: return "spike";
    case Fill::kDenormal: return "denormal";
    case Fill::kSpecial: return "special";
    case Fill::kAllNan: return "all NaN";
  }
  return "";
}

std::vector<float> Tensor::values() const {
  std::vector<float> out(elements());
  widen(dtype, bits.data(), out);
  return out;
}

Tensor make_tensor(const Shape& shape, DType dtype, std::span<const float> values) {
  Tensor tensor{shape, dtype, std::vector<std::byte>(values.size() * item_bytes(dtype))};
  round_to(dtype, values, tensor.bits.data());
  return tensor;
}

Tensor make_tensor(const Shape& shape, DType dtype, Fill fill, std::uint32_t salt) {
  const Stream stream = make_stream(77, Purpose::kInit, salt, static_cast<std::uint32_t>(fill));
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (fill) {
      case Fill::kNormal: values[i] = normal_draw(stream, i); break;
      case Fill::kZeros: values[i] = 0.0f; break;
      case Fill::kConstant: values[i] = 1.7f; break;
      case Fill::kSpike:
        values[i] = i == values.size() / 2 ? -300.0f : 0.001f * normal_draw(stream, i);
        break;
      case Fill::kDenormal: values[i] = 1e-39f * normal_draw(stream, i); break;
      case Fill::kSpecial: values[i] = special_value(stream, i); break;
      case Fill::kAllNan: values[i] = std::numeric_limits<float>::quiet_NaN(); break;
    }
  }
  return make_tensor(shape, dtype, values);
}

Tensor make_random_bits(const Shape& shape, DType dtype) {
  const Stream stream = make_stream(77, Purpose::kInit, 0, static_cast<std::uint32_t>(dtype));
  const auto n = static_cast<std::size_t>(shape.elements());
  Tensor tensor{shape, dtype, std::vector<std::byte>(n * item_bytes(dtype))};
  for (std::size_t i = 0; i < tensor.bits.size(); ++i)
    tensor.bits[i] = static_cast<std::byte>(stream.draw32(i) & 0xFF);
  // Among some hundred random values there may be no float32 NaN: one that is not canonical.
  const std::vector<std::byte> nan(item_bytes(dtype), std::byte{0xFF});
  if (n > 0) std::copy(nan.begin(), nan.end(), tensor.bits.begin());
  return tensor;
}

std::vector<Subject> all_subjects() {
  std::vector<Subject> subjects;
  for (const std::string& spec : example_specs()) {
    const auto codec = make_codec(spec);
    subjects.push_back({spec, codec, codec->properties()});
  }
  return subjects;
}

const std::vector<Shape>& small_shapes() {
  static const std::vector<Shape> shapes{
      {1, 1, 0},   {0, 3, 5},  {2, 0, 8},    {1, 1, 1},    {1, 1, 3},    {1, 2, 5},
      {3, 5, 7},   {1, 1, 31}, {2, 3, 32},   {2, 2, 33},   {1, 3, 127},  {2, 1, 128},
      {1, 2, 129}, {4, 1, 64}, {1, 1, 4095}, {1, 1, 4096}, {1, 1, 4097}, {5, 3, 257}};
  return shapes;
}

bool takes(const Subject& subject, const Shape& shape, DType dtype, const Context& context) {
  try {
    round_trip(subject, make_tensor(shape, dtype, Fill::kZeros), context);
    return true;
  } catch (const Error& error) {
    const ErrorKind kind = error.kind();
    if (kind == ErrorKind::kUnsupported || kind == ErrorKind::kUsage || kind == ErrorKind::kSpec)
      return false;
    throw;
  }
}

Context some_context() {
  Context context;
  context.seed = 0x123456789ABCDEFu;
  context.step = 11;
  context.call = 2;
  context.site = 5;
  context.rank = 1;
  context.ranks = 3;
  static const std::vector<std::int64_t> ids = [] {
    std::vector<std::int64_t> all(4096);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(3 * i + 7);
    return all;
  }();
  context.sample_ids = ids;
  return context;
}

Context with_ids(const Context& context, const Tensor& tensor) {
  Context fitting = context;
  const auto samples = static_cast<std::size_t>(tensor.shape.samples);
  fitting.sample_ids = context.sample_ids.first(std::min(samples, context.sample_ids.size()));
  return fitting;
}

std::unique_ptr<State> make_state(const Subject& subject, const Tensor& like,
                                  const Context& context) {
  return subject.codec->make_state(like.shape, like.dtype, context.ranks);
}

std::vector<std::byte> encode(const Subject& subject, const Tensor& in, const Context& given,
                              State* state) {
  const Context context = with_ids(given, in);
  const std::size_t bytes = subject.codec->payload_bytes(in.shape, in.dtype, context, 0, state);
  std::vector<std::byte> buffer(bytes + 2 * kGuardBytes, kGuard);
  const std::size_t written = subject.codec->encode(
      0, in.view(), std::span(buffer).subspan(kGuardBytes, bytes), state, context);
  if (!guards_hold(buffer)) throw std::runtime_error("encode writes outside its buffer");
  if (written > bytes || (subject.properties.fixed_size && written != bytes))
    throw std::runtime_error("encode returns " + std::to_string(written) +
                             " bytes, payload_bytes says " + std::to_string(bytes));
  const auto begin = buffer.begin() + kGuardBytes;
  return {begin, begin + static_cast<std::ptrdiff_t>(written)};
}

std::vector<float> decode(const Subject& subject, std::span<const std::byte> payload,
                          const Tensor& like, const Context& given, State* state) {
  const Context context = with_ids(given, like);
  const std::size_t bytes = like.elements() * sizeof(float);
  std::vector<std::byte> buffer(bytes + 2 * kGuardBytes, kGuard);
  auto* out = reinterpret_cast<float*>(buffer.data() + kGuardBytes);
  // The payload in a block of its own, so that a sanitizer sees a read past its end.
  const std::vector<std::byte> exact(payload.begin(), payload.end());
  try {
    subject.codec->decode(exact, like.shape, like.dtype, {out, like.elements()}, state, context);
  } catch (const Error&) {
    if (!guards_hold(buffer)) throw std::runtime_error("decode writes outside its buffer");
    throw;
  }
  if (!guards_hold(buffer)) throw std::runtime_error("decode writes outside its buffer");
  return {out, out + like.elements()};
}

std::vector<float> all_rounds(const Subject& subject, const Tensor& in, const Context& given,
                              State* state) {
  Context context = with_ids(given, in);
  context.rank = 0;
  context.ranks = 1;
  const Codec& codec = *subject.codec;
  std::vector<float> out(in.elements());
  for (int round = 0; round < codec.rounds(); ++round) {
    std::vector<std::byte> payload(codec.payload_bytes(in.shape, in.dtype, context, round, state));
    payload.resize(codec.encode(round, in.view(), payload, state, context));
    const std::span<const std::byte> received[] = {payload};
    if (round + 1 < codec.rounds())
      codec.absorb(round, received, in.shape, in.dtype, state, context);
    else
      codec.combine(received, in.shape, in.dtype, out, state, context);
  }
  return out;
}

std::vector<float> round_trip(const Subject& subject, const Tensor& in, const Context& context) {
  if (subject.codec->rounds() > 1) {
    const auto state = subject.codec->make_state(in.shape, in.dtype, 1);
    return all_rounds(subject, in, context, state.get());
  }
  const auto sender = make_state(subject, in, context);
  const auto receiver = make_state(subject, in, context);
  return decode(subject, encode(subject, in, context, sender.get()), in, context, receiver.get());
}

std::size_t first_difference(std::span<const float> a, std::span<const float> b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return i;
  return a.size() == b.size() ? kNowhere : std::min(a.size(), b.size());
}

std::string describe(const Subject& subject, const Tensor& in, const char* fill) {
  return subject.spec + ", " + std::string(to_string(in.dtype)) + " {" +
         std::to_string(in.shape.samples) + ", " + std::to_string(in.shape.tokens) + ", " +
         std::to_string(in.shape.hidden) + "} " + fill;
}

}  // namespace tersor::compressors::suite
