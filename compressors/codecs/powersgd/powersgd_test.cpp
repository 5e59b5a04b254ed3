// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/powersgd/powersgd.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "common/error.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

// All rounds of one message of `ranks` inputs, the reductions in float32 as an all-reduce does.
std::vector<float> reduce(const Codec& codec, const std::vector<std::vector<float>>& inputs,
                          const Shape& shape, std::vector<std::unique_ptr<State>>& states,
                          Phase phase = Phase::kTrain) {
  const std::size_t ranks = inputs.size();
  std::vector<float> out(static_cast<std::size_t>(shape.elements()));
  for (int round = 0; round < codec.rounds(); ++round) {
    std::vector<float> sum;
    for (std::size_t r = 0; r < ranks; ++r) {
      Context context;
      context.rank = static_cast<std::uint32_t>(r);
      context.ranks = static_cast<std::uint32_t>(ranks);
      context.phase = phase;
      Bytes payload(codec.payload_bytes(shape, DType::kFloat32, context, round, states[r].get()));
      codec.encode(round, {inputs[r].data(), shape, DType::kFloat32}, payload, states[r].get(),
                   context);
      sum.resize(payload.size() / 4, 0.0f);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        float x;
        std::memcpy(&x, payload.data() + 4 * i, 4);
        sum[i] += x;
      }
    }
    const std::array received{std::as_bytes(std::span<const float>(sum))};
    for (std::size_t r = 0; r < ranks; ++r) {
      Context context;
      context.ranks = static_cast<std::uint32_t>(ranks);
      context.phase = phase;
      if (round + 1 < codec.rounds())
        codec.absorb(round, received, shape, DType::kFloat32, states[r].get(), context);
      else
        codec.combine(received, shape, DType::kFloat32, out, states[r].get(), context);
    }
  }
  return out;
}

std::vector<std::unique_ptr<State>> states_of(const Codec& codec, const Shape& shape,
                                              std::uint32_t ranks) {
  std::vector<std::unique_ptr<State>> out;
  for (std::uint32_t r = 0; r < ranks; ++r)
    out.push_back(codec.make_state(shape, DType::kFloat32, ranks));
  return out;
}

// Two samples of rank 2, shared between two ranks.
std::vector<float> low_rank(const Shape& shape, std::uint64_t seed) {
  std::vector<float> x(static_cast<std::size_t>(shape.elements()));
  const auto left = activations(shape.samples * shape.tokens * 2, seed);
  const auto right = activations(shape.hidden * 2, seed + 1);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape.rows()); ++row)
    for (std::size_t h = 0; h < static_cast<std::size_t>(shape.hidden); ++h)
      x[row * static_cast<std::size_t>(shape.hidden) + h] =
          left[2 * row] * right[2 * h] + left[2 * row + 1] * right[2 * h + 1];
  return x;
}

TEST_CASE("powersgd is exact for messages whose sum has its rank") {
  const Shape shape{2, 9, 20};
  const auto codec = make_codec("powersgd(rank=4)");
  auto states = states_of(*codec, shape, 2);
  const std::vector<std::vector<float>> inputs{low_rank(shape, 3), low_rank(shape, 5)};
  const auto out = reduce(*codec, inputs, shape, states);
  for (std::size_t i = 0; i < out.size(); ++i)
    CHECK(out[i] == Approx(inputs[0][i] + inputs[1][i]).margin(2e-4));
  auto mean_states = states_of(*codec, shape, 2);
  const auto mean = reduce(*make_codec("powersgd(reduction=mean)"), inputs, shape, mean_states);
  for (std::size_t i = 0; i < out.size(); ++i)
    CHECK(mean[i] == Approx((inputs[0][i] + inputs[1][i]) / 2).margin(2e-4));
}

TEST_CASE("powersgd warms up: the error of a repeated message does not grow, evaluation keeps Q") {
  const Shape shape{1, 30, 40};
  const std::vector<std::vector<float>> inputs{activations(shape.elements())};
  const auto codec = make_codec("powersgd(rank=2)");
  auto states = states_of(*codec, shape, 1);
  const auto error = [&](const std::vector<float>& out) {
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      sum += (out[i] - inputs[0][i]) * (out[i] - inputs[0][i]);
    return std::sqrt(sum);
  };
  const double first = error(reduce(*codec, inputs, shape, states));
  double last = first;
  for (int step = 0; step < 10; ++step) last = error(reduce(*codec, inputs, shape, states));
  CHECK(last < first);
  const auto saved = states[0]->save();
  reduce(*codec, inputs, shape, states, Phase::kEval);
  CHECK(states[0]->save() == saved);
  const auto copy = codec->make_state(shape, DType::kFloat32, 1);
  copy->restore(saved);
  CHECK(copy->save() == saved);
}

TEST_CASE("powersgd refuses a saved state whose vectors are not those of its shape and rank") {
  const Shape shape{2, 3, 8};
  const auto codec = make_codec("powersgd(rank=5)");  // of 3 tokens: rank 3, 2 * 3 * 8 values
  const auto state = codec->make_state(shape, DType::kFloat32, 1);
  const auto saved = [](const Shape& s, std::size_t values) {
    Bytes bytes(sizeof s + 4 * values);
    std::memcpy(bytes.data(), &s, sizeof s);
    return bytes;
  };
  const auto fresh = state->save();
  state->restore(fresh);
  CHECK(state->save() == fresh);
  const Bytes right = saved(shape, 48);
  state->restore(right);
  CHECK(state->save() == right);
  constexpr std::int64_t kLarge = std::int64_t{1} << 31;  // kLarge^2 * 4 is 0 in 64 bits
  for (const auto& [s, values] :
       std::vector<std::pair<Shape, std::size_t>>{{shape, 0},
                                                  {shape, 16},
                                                  {shape, 32},
                                                  {shape, 47},
                                                  {shape, 64},
                                                  {shape, 80},
                                                  {{}, 48},
                                                  {{2, 0, 8}, 0},
                                                  {{2, -3, 8}, 48},
                                                  {{-2, 3, -8}, 48},
                                                  {{kLarge, 0, kLarge}, 0},
                                                  {{kLarge, 3, kLarge}, 0},
                                                  {{kLarge, 3, kLarge}, 4},
                                                  {{kLarge << 22, 3, kLarge >> 3}, 0}}) {
    INFO(s.samples << " x " << s.tokens << " x " << s.hidden << ", " << values << " values");
    try {
      state->restore(saved(s, values));
      FAIL_CHECK("restored");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kPayload);
    }
    CHECK(state->save() == right);
  }
}

TEST_CASE("orthonormalise: unit columns, zero columns stay zero") {
  std::vector<float> v{3, 4, 0, 0, 0, 0, 1, 0, 2};
  std::array<double, 9> scratch;
  orthonormalise(v, 3, 3, scratch);
  CHECK(v[0] == Approx(0.6));
  CHECK(v[1] == Approx(0.8));
  CHECK(v[3] == 0);
  // (1, 0, 2) - 0.6 (0.6, 0.8, 0) = (0.64, -0.48, 2), of length sqrt(4.64).
  CHECK(v[6] == Approx(0.64 / std::sqrt(4.64)));
  CHECK(v[8] == Approx(2 / std::sqrt(4.64)));
}

TEST_CASE("powersgd: three threads give the rounds and the message of one") {
  const Shape shape{1, 300, 1000};  // enough elements to be cut, in shares that do not divide them
  const std::vector<float> x = activations(shape.elements());
  const auto codec = make_codec("powersgd(rank=5)");
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    std::vector<std::byte> raw(x.size() * item_bytes(dtype));
    round_to(dtype, x, raw.data());
    std::vector<Bytes> first_payloads;
    std::vector<float> first;
    for (const int threads : {1, 3}) {
      Context context;
      context.threads = threads;
      const auto state = codec->make_state(shape, dtype, 1);
      std::vector<Bytes> payloads;
      std::vector<float> out(x.size());
      for (int round = 0; round < 2; ++round) {
        Bytes& payload =
            payloads.emplace_back(codec->payload_bytes(shape, dtype, context, round, state.get()));
        codec->encode(round, {raw.data(), shape, dtype}, payload, state.get(), context);
        const std::array received{std::span<const std::byte>(payload)};
        if (round == 0)
          codec->absorb(round, received, shape, dtype, state.get(), context);
        else
          codec->combine(received, shape, dtype, out, state.get(), context);
      }
      if (threads == 1) {
        first_payloads = payloads;
        first = out;
      }
      CHECK(payloads == first_payloads);
      CHECK(out == first);
    }
  }
}

}  // namespace
}  // namespace tersor::compressors
