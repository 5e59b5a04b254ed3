// SPDX-License-Identifier: Apache-2.0
// Our numbers against those of other programs: compressors/verify/golden/values/README.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compressors/host/hadamard_kernels.hpp"
#include "compressors/host/minifloat_kernels.hpp"
#include "compressors/verify/message_for_test.hpp"
#include "compressors/wire/floats.hpp"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

using nlohmann::json;

json values_of(const std::string& program) {
  std::ifstream in("compressors/verify/golden/values/" + program + ".json");
  REQUIRE(in.is_open());
  return json::parse(in);
}

/// Numbers of `digits` hexadecimal digits each, over all lines.
std::vector<std::uint32_t> numbers(const json& lines, std::size_t digits) {
  std::string text;
  for (const auto& line : lines) text += line.get<std::string>();
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i + digits <= text.size(); i += digits)
    out.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(i, digits), nullptr, 16)));
  REQUIRE(out.size() > 0);
  return out;
}

std::vector<float> floats(const json& lines) {
  std::vector<float> out;
  for (const std::uint32_t bits : numbers(lines, 8)) out.push_back(float_of(bits));
  return out;
}

/// What another program may make of a number that has no code in the format, and we do not.
struct Beyond {
  std::uint32_t sign;      ///< the sign bit of a code
  std::uint32_t largest;   ///< the largest finite code; ours for all that is too large
  std::uint32_t overflow;  ///< theirs
};

/// Every code equal, but for the differences that `beyond` states. Returns how many were compared
/// with no difference to state.
template <class Encode>
int compare(const std::vector<float>& inputs, const std::vector<std::uint32_t>& codes,
            const Beyond& beyond, Encode encode) {
  REQUIRE(inputs.size() == codes.size());
  int equal = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_nan(inputs[i])) continue;
    const std::uint32_t ours = encode(i);
    const std::uint32_t sign = codes[i] & beyond.sign;
    const bool is_beyond = (codes[i] & ~beyond.sign) == beyond.overflow;
    const std::uint32_t expected = is_beyond ? beyond.largest | sign : codes[i];
    if (ours != expected) FAIL_CHECK(inputs[i] << ": " << ours << ", expected " << expected);
    if (ours == codes[i]) ++equal;
  }
  return equal;
}

template <class Format>
void compare_format(const json& entry, SmallFloat kind, std::uint32_t overflow) {
  constexpr std::uint32_t kSign = Format::kMagnitude + 1;
  const auto inputs = floats(entry.at("inputs"));
  const auto codes = numbers(entry.at("codes"), 2);
  const std::uint32_t largest = Format::encode(kFloat32Max);
  const Beyond beyond{kSign, largest, overflow};
  CHECK(compare(inputs, codes, beyond, [&](std::size_t i) { return Format::encode(inputs[i]); }) >
        200);
  std::vector<std::uint8_t> many(inputs.size());
  const float one = 1.0f;
  kernels::encode_small(kind, inputs.data(), static_cast<std::int64_t>(inputs.size()), &one, false,
                        false, many.data());
  compare(inputs, codes, beyond, [&](std::size_t i) { return std::uint32_t{many[i]}; });
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_nan(inputs[i])) CHECK(many[i] == 0);  // METHODS: quantisers treat NaN as 0
}

template <class Format>
void compare_values(const json& entry, SmallFloat kind) {
  const auto values = floats(entry.at("values"));
  REQUIRE(values.size() == (std::size_t{1} << Format::kWidth));
  std::vector<std::uint8_t> codes(values.size());
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  std::vector<float> many(values.size());
  const float one = 1.0f;
  kernels::decode_small(kind, codes.data(), static_cast<std::int64_t>(codes.size()), &one, false,
                        false, many.data());
  for (std::size_t code = 0; code < values.size(); ++code) {
    if (!std::isfinite(values[code])) continue;  // no encoder writes these
    INFO("code " << code);
    CHECK(bits_of(Format::decode(static_cast<std::uint32_t>(code))) == bits_of(values[code]));
    CHECK(bits_of(many[code]) == bits_of(values[code]));
    CHECK(Format::encode(values[code]) == code);
  }
}

/// The payload of `cast` as 16-bit codes.
std::vector<std::uint32_t> cast_codes(const std::string& spec, const std::vector<float>& x) {
  const auto payload = testing::encode(spec, x, testing::row_of(x));
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i + 1 < payload.size(); i += 2)
    codes.push_back(std::to_integer<std::uint32_t>(payload[i]) |
                    std::to_integer<std::uint32_t>(payload[i + 1]) << 8);
  return codes;
}

}  // namespace

TEST_CASE(
    "FP8, FP6 and FP4 are those of ml_dtypes: every code, and rounding about every boundary") {
  const json file = values_of("ml_dtypes");
  // ml_dtypes turns what is too large for E4M3 into NaN, for E5M2 into infinity, and saturates the
  // rest, as we do everywhere.
  constexpr std::uint32_t kNever = 0xFFFF;
  compare_format<E4M3>(file.at("e4m3"), SmallFloat::kE4M3, 0x7F);
  compare_format<E5M2>(file.at("e5m2"), SmallFloat::kE5M2, 0x7C);
  compare_format<E2M3>(file.at("e2m3"), SmallFloat::kE2M3, kNever);
  compare_format<E3M2>(file.at("e3m2"), SmallFloat::kE3M2, kNever);
  compare_format<E2M1>(file.at("e2m1"), SmallFloat::kE2M1, kNever);
  compare_values<E4M3>(file.at("e4m3"), SmallFloat::kE4M3);
  compare_values<E5M2>(file.at("e5m2"), SmallFloat::kE5M2);
  compare_values<E2M3>(file.at("e2m3"), SmallFloat::kE2M3);
  compare_values<E3M2>(file.at("e3m2"), SmallFloat::kE3M2);
  compare_values<E2M1>(file.at("e2m1"), SmallFloat::kE2M1);
}

TEST_CASE("casts are PyTorch's, but for finite values that overflow") {
  const json file = values_of("torch");
  const json& casts = file.at("casts");
  compare_format<E4M3>(casts.at("e4m3"), SmallFloat::kE4M3, 0x7F);
  compare_format<E5M2>(casts.at("e5m2"), SmallFloat::kE5M2, 0x7C);
  const struct {
    const char* name;
    const char* spec;
    std::uint32_t infinity;
  } kinds[] = {{"float16", "cast(format=fp16)", 0x7C00}, {"bfloat16", "cast", 0x7F80}};
  for (const auto& kind : kinds) {
    INFO(kind.name);
    const auto inputs = floats(casts.at(kind.name).at("inputs"));
    const auto codes = numbers(casts.at(kind.name).at("codes"), 4);
    const auto ours = cast_codes(kind.spec, inputs);
    REQUIRE(ours.size() == inputs.size());
    int saturated = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      INFO("input " << inputs[i]);
      if (is_nan(inputs[i])) {
        CHECK(ours[i] == (kind.infinity == 0x7C00 ? kNan16 : kNanBf16));  // ours is canonical
      } else if ((codes[i] & 0x7FFF) == kind.infinity && is_finite(inputs[i])) {
        CHECK(ours[i] == codes[i] - 1);  // the largest finite value
        ++saturated;
      } else {
        CHECK(ours[i] == codes[i]);
      }
    }
    CHECK(saturated > 0);
  }
}

TEST_CASE("topk keeps what torch.topk and torch.kthvalue find") {
  const json file = values_of("torch");
  REQUIRE(file.at("topk").size() == 6);
  for (const auto& entry : file.at("topk")) {
    const auto x = floats(entry.at("x"));
    const std::int64_t k = entry.at("k");
    const auto y = testing::round_trip("topk(k=" + std::to_string(k) + ")", x);
    std::vector<std::size_t> selected;
    float smallest = INFINITY;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i] == 0.0f) continue;
      CHECK(bits_of(y[i]) == bits_of(x[i]));
      selected.push_back(i);
      smallest = std::min(smallest, std::abs(y[i]));
    }
    CHECK(selected == entry.at("indices").get<std::vector<std::size_t>>());
    CHECK(smallest == floats(entry.at("smallest")).at(0));
  }
}

TEST_CASE("the Walsh-Hadamard transform is SciPy's matrix over sqrt(n)") {
  int orders = 0;
  const json file = values_of("scipy");
  for (const auto& [order, rows] : file.at("negative").items()) {
    const auto n = static_cast<std::size_t>(std::stoul(order));
    const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(n)));
    std::vector<float> counted(n);  // H (1, 2, .., n), exact in float32
    for (std::size_t i = 0; i < n; ++i) counted[i] = static_cast<float>(i + 1);
    std::vector<double> expected(n);
    for (std::size_t column = 0; column < n; ++column) {
      std::vector<float> unit(n);
      unit[column] = 1.0f;
      kernels::walsh_hadamard(unit.data(), static_cast<std::int64_t>(n));
      for (std::size_t row = 0; row < n; ++row) {
        const std::string& hex = rows.at(row).get_ref<const std::string&>();
        const int byte = std::stoi(hex.substr(column / 8 * 2, 2), nullptr, 16);
        const float sign = (byte >> (7 - column % 8) & 1) != 0 ? -1.0f : 1.0f;
        if (unit[row] != sign * scale) FAIL_CHECK(n << ": row " << row << " column " << column);
        expected[row] += static_cast<double>(sign) * static_cast<double>(counted[column]);
      }
    }
    kernels::walsh_hadamard(counted.data(), static_cast<std::int64_t>(n));
    for (std::size_t row = 0; row < n; ++row)
      CHECK(counted[row] == static_cast<float>(expected[row]) * scale);
    ++orders;
  }
  CHECK(orders == 8);
}

}  // namespace tersor::compressors
