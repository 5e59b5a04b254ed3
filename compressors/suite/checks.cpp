// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/suite/subject.hpp"

namespace tersor::compressors::suite {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
constexpr Fill kFills[] = {Fill::kNormal,   Fill::kZeros,   Fill::kConstant, Fill::kSpike,
                           Fill::kDenormal, Fill::kSpecial, Fill::kAllNan};
const Shape kMiddle{3, 4, 67};

/// Calls visit(tensor, fill) for every shape that the codec takes, every dtype and fill.
template <class Visit>
void for_each_tensor(const Subject& subject, const Context& context, Visit visit) {
  int taken = 0;
  for (const Shape& shape : small_shapes())
    for (const DType dtype : kDTypes) {
      if (!takes(subject, shape, dtype, context)) continue;
      for (const Fill fill : kFills) visit(make_tensor(shape, dtype, fill), fill);
      ++taken;
    }
  if (taken == 0) FAIL_CHECK("takes none of the suite's shapes");
}

double finite_absmax(std::span<const float> values) {
  double largest = 0;
  for (const float x : values)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return largest;
}

double square_norm(std::span<const float> values) {
  double sum = 0;
  for (const float x : values) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum;
}

std::vector<float> minus(std::span<const float> a, std::span<const float> b) {
  std::vector<float> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] - b[i];
  return out;
}

/// Equal bits, or for codecs that are not bit-exact a relative L2 distance within the tolerance.
bool agree(const Subject& subject, std::span<const float> a, std::span<const float> b) {
  if (first_difference(a, b) == kNowhere) return true;
  if (subject.properties.bit_exact) return false;
  return std::sqrt(square_norm(minus(a, b))) <=
         subject.properties.tolerance * std::sqrt(square_norm(a)) + 1e-30;
}

}  // namespace

void check_spec(const Subject& subject) {
  const std::string canonical = subject.codec->canonical();
  CHECK(make_codec(canonical)->canonical() == canonical);
  CHECK(canonical.find(' ') == std::string::npos);
  const auto json = compressors::describe(*subject.codec);
  CHECK(json.at("spec") == canonical);
  CHECK(json.at("properties").at("rounds") == subject.codec->rounds());
  const CodecInfo& info = registered_codecs().at(json.at("name").get<std::string>());
  CHECK_FALSE(info.summary.empty());
  CHECK_FALSE(info.source.empty());
  for (const Parameter& parameter : info.parameters) CHECK_FALSE(parameter.meaning.empty());
  if (subject.properties.unbiased) CHECK_FALSE(subject.properties.unbiased_range.empty());
  CHECK_FALSE((subject.properties.bit_exact && subject.properties.tolerance > 0));
  CHECK(subject.properties.learned == subject.codec->learned().has_value());
}

void check_bytes(const Subject& subject) {
  const Context any = some_context();
  for_each_tensor(subject, any, [&](const Tensor& in, Fill fill) {
    INFO(describe(subject, in, to_string(fill)));
    const Context context = with_ids(any, in);
    const auto state = make_state(subject, in, context);
    const std::size_t bytes =
        subject.codec->payload_bytes(in.shape, in.dtype, context, 0, state.get());
    const std::size_t metadata =
        subject.codec->metadata_bytes(in.shape, in.dtype, context, 0, state.get());
    if (metadata > bytes) FAIL_CHECK("metadata " << metadata << " > payload " << bytes);
    if (in.elements() == 0 && bytes != 0) FAIL_CHECK("an empty tensor has " << bytes << " bytes");
    const auto payload = encode(subject, in, context, state.get());
    if (subject.codec->exchange(0) == Exchange::kAllReduce) {
      const DType dtype = subject.codec->reduce_dtype(0, in.dtype);
      if (bytes % item_bytes(dtype) != 0) FAIL_CHECK(bytes << " bytes are no array to reduce");
    }
    Context other = context;
    other.threads = 3;
    std::vector<std::byte> workspace(subject.codec->workspace_bytes(in.shape, in.dtype, context));
    other.workspace = workspace;
    const auto again_state = make_state(subject, in, context);
    const auto again = encode(subject, in, other, again_state.get());
    if (subject.properties.bit_exact && payload != again)
      FAIL_CHECK("three threads and a workspace give another payload");
    std::vector<std::byte> narrow(std::min<std::size_t>(100, workspace.size()));
    other.workspace = narrow;
    const auto third_state = make_state(subject, in, context);
    if (subject.properties.bit_exact && payload != encode(subject, in, other, third_state.get()))
      FAIL_CHECK("a workspace that is too small gives another payload");
  });
}

void check_values(const Subject& subject) {
  const Context context = some_context();
  for_each_tensor(subject, context, [&](const Tensor& in, Fill fill) {
    if (fill == Fill::kSpecial || fill == Fill::kAllNan) return;
    INFO(describe(subject, in, to_string(fill)));
    const auto x = in.values();
    const auto y = round_trip(subject, in, context);
    const double absmax = finite_absmax(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!std::isfinite(y[i])) {
        FAIL_CHECK("element " << i << ": " << x[i] << " decodes to " << y[i]);
        break;
      }
      const auto bound = subject.properties.error_bound_of_absmax;
      const double error = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
      if (bound && error > *bound * absmax + 0x1p-133) {
        FAIL_CHECK("element " << i << ": " << x[i] << " decodes to " << y[i] << ", the bound is "
                              << *bound * absmax);
        break;
      }
    }
    if (!agree(subject, y, round_trip(subject, in, context))) FAIL_CHECK("the second try differs");
  });
}

void check_special_values(const Subject& subject) {
  const Context context = some_context();
  const auto check_bits = [&](const Tensor& in) {
    const auto payload = encode(subject, in, context, make_state(subject, in, context).get());
    std::vector<std::byte> bits(in.bits.size() + 8);
    auto state = make_state(subject, in, context);
    Context exact = context;
    exact.sample_ids = context.sample_ids.first(static_cast<std::size_t>(in.shape.samples));
    subject.codec->decode_bits(payload, in.shape, in.dtype, bits.data(), state.get(), exact);
    if (subject.properties.lossless && !std::equal(in.bits.begin(), in.bits.end(), bits.begin()))
      FAIL_CHECK("lossless, but the decoded bits differ");
  };
  for_each_tensor(subject, context, [&](const Tensor& in, Fill fill) {
    if (fill != Fill::kSpecial && fill != Fill::kAllNan) return;
    INFO(describe(subject, in, to_string(fill)));
    check_bits(in);
  });
  for (const DType dtype : kDTypes) {
    // A payload of one round alone has no bits of its own.
    if (subject.codec->rounds() > 1 || !takes(subject, kMiddle, dtype, context)) continue;
    const Tensor in = make_random_bits(kMiddle, dtype);
    INFO(describe(subject, in, "random bits"));
    check_bits(in);
  }
  if (!takes(subject, kMiddle, DType::kFloat32, context)) return;
  // One bad element among good ones: what decodes to a non-finite value stays in the declared
  // region.
  const Tensor plain = make_tensor(kMiddle, DType::kFloat32, Fill::kNormal);
  const std::size_t bad = 5 * 67 + 13;
  for (const float value : {NAN, INFINITY, -INFINITY, 3.4028235e38f}) {
    auto x = plain.values();
    x[bad] = value;
    const auto y = round_trip(subject, make_tensor(kMiddle, DType::kFloat32, x), context);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Spread spread = subject.properties.nonfinite_spread;
      const bool is_inside = spread == Spread::kTensor || spread == Spread::kScope || i == bad ||
                             (spread == Spread::kRow && i / 67 == bad / 67);
      if (!is_inside && !std::isfinite(y[i])) {
        FAIL_CHECK(value << " at " << bad << " makes element " << i << " decode to " << y[i]);
        break;
      }
    }
  }
}

void check_sums(const Subject& subject) {
  Context context = some_context();
  for (const DType dtype : kDTypes) {
    if (subject.codec->rounds() != 1 || !takes(subject, kMiddle, dtype, context)) continue;
    INFO(describe(subject, make_tensor(kMiddle, dtype, Fill::kZeros)));
    std::vector<std::vector<std::byte>> payloads;
    std::vector<float> expected;
    std::vector<float> magnitude;
    Tensor like = make_tensor(kMiddle, dtype, Fill::kZeros);
    const auto receiver = make_state(subject, like, context);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
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

void check_damaged_payloads(const Subject& subject) {
  if (subject.codec->rounds() > 1) return;  // a payload of one round alone has no decoded tensor
  const Context context = some_context();
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 5, 7}, Shape{2, 2, 33}, Shape{1, 2, 129}}) {
    if (!takes(subject, shape, DType::kFloat16, context)) continue;
    const Tensor in = make_tensor(shape, DType::kFloat16, Fill::kNormal);
    INFO(describe(subject, in));
    const auto payload = encode(subject, in, context, make_state(subject, in, context).get());
    const auto try_decode = [&](const std::vector<std::byte>& damaged) {
      try {
        decode(subject, damaged, in, context, make_state(subject, in, context).get());
        return true;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kPayload)
          FAIL_CHECK("a damaged payload gives the error kind '" << to_string(error.kind())
                                                                << "': " << error.what());
        return false;
      }
    };
    for (std::size_t bytes = 0; bytes < payload.size(); ++bytes)
      if (subject.properties.fixed_size &&
          try_decode({payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(bytes)})) {
        FAIL_CHECK("a payload cut to " << bytes << " of " << payload.size() << " bytes decodes");
        break;
      }
    auto longer = payload;
    longer.push_back(std::byte{0});
    if (try_decode(longer)) FAIL_CHECK("a payload with a byte too many decodes");
    const std::size_t step = std::max<std::size_t>(1, payload.size() * 8 / 4096);
    for (std::size_t bit = 0; bit < payload.size() * 8; bit += step) {
      auto flipped = payload;
      flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      try_decode(flipped);  // any meaning or refusal will do, inside the buffer
    }
    for (const std::byte fill : {std::byte{0x00}, std::byte{0xFF}, std::byte{0x7F}})
      try_decode(std::vector<std::byte>(payload.size(), fill));
  }
}

void check_state(const Subject& subject) {
  Context context = some_context();
  if (!takes(subject, kMiddle, DType::kFloat32, context)) return;
  const auto tensor = [](std::uint32_t salt) {
    return make_tensor(kMiddle, DType::kFloat32, Fill::kNormal, salt);
  };
  const auto send = [&](const Tensor& in, State* state) {
    if (subject.codec->rounds() == 1) return encode(subject, in, context, state);
    const auto out = all_rounds(subject, in, context, state);
    std::vector<std::byte> decoded(out.size() * sizeof(float));
    if (!decoded.empty()) std::memcpy(decoded.data(), out.data(), decoded.size());
    return decoded;
  };
  if (subject.codec->rounds() > 1) context.ranks = 1;
  const auto state = make_state(subject, tensor(0), context);
  // What a codec of several rounds keeps between them is no state from message to message.
  const bool is_stateful = subject.properties.state != StateKind::kNone;
  if (is_stateful || subject.codec->rounds() == 1) CHECK((state != nullptr) == is_stateful);
  if (!is_stateful || state == nullptr) return;
  const auto copy = make_state(subject, tensor(0), context);
  for (std::uint32_t step = 0; step < 2; ++step) {
    context.step = step;
    send(tensor(step), state.get());
  }
  const auto saved = state->save();
  CHECK(state->bytes() > 0);
  REQUIRE_FALSE(saved.empty());
  copy->restore(saved);
  CHECK(copy->save() == saved);
  context.phase = Phase::kEval;
  send(tensor(9), state.get());
  CHECK(state->save() == saved);  // an evaluation changes nothing
  context.phase = Phase::kTrain;
  for (std::uint32_t step = 2; step < 4; ++step) {
    context.step = step;
    if (send(tensor(step), state.get()) != send(tensor(step), copy.get()))
      FAIL_CHECK("the restored state gives another message at step " << step);
  }
  for (const auto& damaged :
       {std::vector<std::byte>{}, std::vector<std::byte>(saved.begin(), saved.end() - 1)})
    CHECK_THROWS_AS(make_state(subject, tensor(0), context)->restore(damaged), Error);
}

void check_large(const Subject& subject) {
  const Context context = some_context();
  const Shape shape{3, 37, 1025};  // 113,775 elements: more than any block, divided by none
  for (const DType dtype : kDTypes) {
    if (!takes(subject, shape, dtype, context)) continue;
    const Tensor in = make_tensor(shape, dtype, Fill::kNormal);
    INFO(describe(subject, in));
    const auto x = in.values();
    const auto y = round_trip(subject, in, context);
    const double error = std::sqrt(square_norm(minus(x, y)) / square_norm(x));
    if (!std::isfinite(error)) FAIL_CHECK("the relative error is " << error);
    const auto bound = subject.properties.error_bound_of_absmax;
    if (bound && finite_absmax(minus(x, y)) > *bound * finite_absmax(x))
      FAIL_CHECK("the largest error is " << finite_absmax(minus(x, y)));
  }
}

}  // namespace tersor::compressors::suite
