// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/suite/measures.hpp"

namespace tersor::compressors::suite {
namespace {

constexpr Fill kFills[] = {Fill::kNormal,   Fill::kZeros,   Fill::kConstant, Fill::kSpike,
                           Fill::kDenormal, Fill::kSpecial, Fill::kAllNan};

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
    // The payload of an all-reduce round among others is no message to decode.
    if (subject.codec->rounds() > 1 && subject.codec->exchange(0) == Exchange::kAllReduce)
      round_trip(subject, in, context);
    else
      check_bits(in);
  });
  for (const DType dtype : kDTypes) {
    // A payload of one round alone has no bits of its own.
    if (subject.codec->rounds() > 1 || !takes(subject, kMiddle, dtype, context)) continue;
    const Tensor in = make_random_bits(kMiddle, dtype);
    INFO(describe(subject, in, "random bits"));
    check_bits(in);
  }
  for (const DType dtype : kDTypes) {
    if (subject.codec->rounds() == 1 || !subject.properties.lossless ||
        !takes(subject, kMiddle, dtype, context))
      continue;
    // The sum of one rank's message is the message, in float32.
    const Tensor in = make_tensor(kMiddle, dtype, Fill::kNormal);
    if (first_difference(in.values(), round_trip(subject, in, context)) != kNowhere)
      FAIL_CHECK("lossless, but the sum of one rank's message is another one");
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
      const bool is_inside =
          spread == Spread::kTensor || i == bad || (spread == Spread::kRow && i / 67 == bad / 67);
      if (!is_inside && !std::isfinite(y[i])) {
        FAIL_CHECK(value << " at " << bad << " makes element " << i << " decode to " << y[i]);
        break;
      }
    }
  }
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
