// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/suite/measures.hpp"

namespace tersor::compressors::suite {

void check_sums(const Subject& subject) {
  Context context = some_context();
  context.ranks = 11;  // more than any codec or launch sums at once
  for (const DType dtype : kDTypes) {
    if (subject.codec->rounds() != 1 || !takes(subject, kMiddle, dtype, context)) continue;
    INFO(describe(subject, make_tensor(kMiddle, dtype, Fill::kZeros)));
    std::vector<std::vector<std::byte>> payloads;
    std::vector<float> expected;
    std::vector<float> magnitude;
    Tensor like = make_tensor(kMiddle, dtype, Fill::kZeros);
    const auto receiver = make_state(subject, like, context);
    for (std::uint32_t rank = 0; rank < context.ranks; ++rank) {
      context.rank = rank;
      const Tensor in = make_tensor(kMiddle, dtype, Fill::kNormal, rank);
      payloads.push_back(encode(subject, in, context, make_state(subject, in, context).get()));
      const auto y =
          decode(subject, payloads.back(), in, context, make_state(subject, in, context).get());
      if (rank == 0) {
        expected = y;
        magnitude.assign(y.size(), 0.0f);
      } else {
        for (std::size_t i = 0; i < y.size(); ++i) expected[i] += y[i];
      }
      for (std::size_t i = 0; i < y.size(); ++i) magnitude[i] += std::abs(y[i]);
    }
    Context receiving = context;
    receiving.sample_ids = context.sample_ids.first(static_cast<std::size_t>(kMiddle.samples));
    const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
    std::vector<float> sum(expected.size());
    if (subject.properties.state == StateKind::kNone) {
      subject.codec->combine(received, kMiddle, dtype, sum, receiver.get(), receiving);
      const auto at = first_difference(expected, sum);
      if (at != kNowhere)
        FAIL_CHECK("combine: element " << at << ": " << sum[at] << ", in rank order "
                                       << expected[at]);
      std::vector<float> added(expected.size(), 0.25f);
      receiving.rank = 1;
      subject.codec->decode_accumulate(payloads[1], kMiddle, dtype, added, receiver.get(),
                                       receiving);
      auto once = decode(subject, payloads[1], like, receiving);
      for (float& y : once) y = 0.25f + y;
      if (first_difference(once, added) != kNowhere)
        FAIL_CHECK("decode_accumulate is not decode and add");
    }
    if (!subject.properties.summable) {
      if (subject.codec->exchange(0) == Exchange::kAllReduce)
        FAIL_CHECK("crosses by all-reduce but is not declared summable");
      continue;
    }
    const DType reduced = subject.codec->reduce_dtype(0, dtype);
    const std::size_t count = payloads[0].size() / item_bytes(reduced);
    std::vector<float> codes(count, 0.0f);
    std::vector<float> part(count);
    for (const auto& payload : payloads) {
      widen(reduced, payload.data(), part);
      for (std::size_t i = 0; i < count; ++i) codes[i] += part[i];
    }
    std::vector<std::byte> summed(payloads[0].size());
    round_to(reduced, codes, summed.data());
    const auto y = decode(subject, summed, like, context, receiver.get());
    const double scale = finite_absmax(magnitude);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double error = std::abs(static_cast<double>(y[i]) - static_cast<double>(expected[i]));
      if (error <= subject.properties.summable_tolerance * scale) continue;
      FAIL_CHECK("element " << i << ": decode of the sum " << y[i] << ", sum of the decodes "
                            << expected[i]);
      break;
    }
  }
}

void check_unbiased(const Subject& subject) {
  if (!subject.properties.unbiased) return;
  // Negative values whose largest magnitude is common: inside every declared range (a code range
  // often has one more step below zero than above).
  const Shape shape{2, 3, 16};
  Context context = some_context();
  if (!takes(subject, shape, DType::kFloat32, context)) return;
  std::vector<float> x = make_tensor(shape, DType::kFloat32, Fill::kNormal).values();
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 3 == 0 || i < 16 ? -1.0f : -std::fmod(std::abs(x[i]), 1.0f);
  const Tensor in = make_tensor(shape, DType::kFloat32, x);
  constexpr int kSteps = 3000;
  std::vector<double> sum(x.size());
  std::vector<double> squares(x.size());
  for (int step = 0; step < kSteps; ++step) {
    context.step = static_cast<std::uint32_t>(step);
    context.seed = 0x1000u + static_cast<std::uint32_t>(step) * 7919u;
    const auto y = round_trip(subject, in, context);
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum[i] += static_cast<double>(y[i]);
      squares[i] += static_cast<double>(y[i]) * static_cast<double>(y[i]);
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double mean = sum[i] / kSteps;
    const double variance = std::max(0.0, squares[i] / kSteps - mean * mean);
    // Five standard errors; 1e-3 for scales that are stored in float16.
    const double allowed = 5 * std::sqrt(variance / kSteps) + 1e-3;
    const double bias = mean - static_cast<double>(x[i]);
    if (std::abs(bias) <= allowed) continue;
    FAIL_CHECK("element " << i << ": the mean of " << x[i] << " is off by " << bias << ", "
                          << allowed << " is allowed");
    break;
  }
}

void check_contraction(const Subject& subject) {
  if (!subject.properties.contraction) return;
  Context context = some_context();
  for (const Shape& shape : small_shapes()) {
    const auto delta = subject.properties.contraction(shape);
    if (!delta || !takes(subject, shape, DType::kFloat32, context)) continue;
    for (const Fill fill : {Fill::kNormal, Fill::kConstant, Fill::kSpike}) {
      const Tensor in = make_tensor(shape, DType::kFloat32, fill);
      const auto x = in.values();
      const double error = square_norm(minus(x, round_trip(subject, in, context)));
      const double allowed = (1 - *delta) * square_norm(x);
      if (error > allowed * (1 + 1e-6) + 1e-30)
        FAIL_CHECK(describe(subject, in, to_string(fill))
                   << ": |x - C(x)|^2 = " << error << ", (1 - delta) |x|^2 = " << allowed);
    }
  }
}

void check_expansion(const Subject& subject) {
  const bool is_expansive = subject.properties.is_expansive;
  if (is_expansive && subject.properties.contraction)
    for (const Shape& shape : small_shapes())
      if (subject.properties.contraction(shape)) {
        FAIL_CHECK("declared expansive, and contractive at {"
                   << shape.samples << ", " << shape.tokens << ", " << shape.hidden << "}");
        break;
      }
  if (subject.codec->rounds() > 1 || subject.properties.state != StateKind::kNone) return;
  for (const char* wrapper : {"ef", "ef21"}) {
    std::string refusal;
    try {
      make_codec(std::string(wrapper) + "(" + subject.codec->canonical() + ")");
    } catch (const Error& error) {
      refusal = error.what();
    }
    // Other reasons to refuse it say something else.
    if (is_expansive != (refusal.find("contractive") != std::string::npos))
      FAIL_CHECK(wrapper << " around it: " << (refusal.empty() ? "taken" : refusal)
                         << ", declared expansive: " << is_expansive);
  }
}

void check_locality(const Subject& subject) {
  const Context context = some_context();
  const Shape shape{3, 4, 67};
  for (const DType dtype : kDTypes) {
    if (!takes(subject, shape, dtype, context)) continue;
    const Tensor in = make_tensor(shape, dtype, Fill::kNormal);
    auto x = in.values();
    const std::size_t row = 6;  // of sample 1
    for (std::size_t i = row * 67; i < (row + 1) * 67; ++i) x[i] = 50.0f - 3.0f * x[i];
    const Tensor changed = make_tensor(shape, dtype, x);
    const auto before = round_trip(subject, in, context);
    const auto after = round_trip(subject, changed, context);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool is_row = i / 67 == row;
      const bool is_sample = i / (4 * 67) == 1;
      const bool same = std::memcmp(&before[i], &after[i], sizeof(float)) == 0;
      if (same || is_row) continue;
      if (subject.properties.token_local)
        FAIL_CHECK("token_local, but element " << i << " depends on another row");
      else if (subject.properties.sample_local && !is_sample)
        FAIL_CHECK("sample_local, but element " << i << " depends on another sample");
      else
        continue;
      break;
    }
  }
}

void check_determinism(const Subject& subject) {
  const Context context = some_context();
  if (!subject.properties.deterministic || subject.codec->rounds() > 1) return;
  for (const DType dtype : kDTypes) {
    if (!takes(subject, kMiddle, dtype, context)) continue;
    const Tensor in = make_tensor(kMiddle, dtype, Fill::kNormal);
    INFO(describe(subject, in));
    const auto payload = encode(subject, in, context, make_state(subject, in, context).get());
    const auto expect_same = [&](const char* what, const Context& other) {
      if (payload != encode(subject, in, other, make_state(subject, in, other).get()))
        FAIL_CHECK("deterministic, but another " << what << " gives another payload");
    };
    Context other = context;
    other.step += 1;
    expect_same("step", other);
    other = context;
    other.call += 1;
    expect_same("call", other);
    other = context;
    other.rank += 1;
    expect_same("rank", other);
  }
}

}  // namespace tersor::compressors::suite
