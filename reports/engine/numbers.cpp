// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/numbers.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace tersor::reports {
namespace {

constexpr const char* kMinus = "\xe2\x88\x92";
constexpr const char* kPlusMinus = " \xc2\xb1 ";

std::string magnitude(double value, int decimals) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, std::fabs(value));
  return text.data();
}

bool is_zero(const std::string& digits) {
  return digits.find_first_not_of("0.") == std::string::npos;
}

}  // namespace

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  const std::string digits = magnitude(value, decimals);
  return value < 0 && !is_zero(digits) ? kMinus + digits : digits;
}

std::string with_sign(double value, int decimals) {
  const std::string digits = magnitude(value, decimals);
  return value > 0 && !is_zero(digits) ? "+" + digits : fixed(value, decimals);
}

std::string with_deviation(double value, std::optional<double> deviation, int decimals) {
  if (!deviation) return fixed(value, decimals);
  return fixed(value, decimals) + kPlusMinus + fixed(*deviation, decimals);
}

std::string significant(double value) {
  if (value == 0 || !std::isfinite(value)) return fixed(value, 0);
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (exponent < -6 || exponent > 9) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", value);
    return text.data();
  }
  return fixed(value, exponent >= 2 ? 0 : 2 - exponent);
}

std::string count_text(std::int64_t n, std::int64_t diverged, std::int64_t undefined) {
  std::string text = "n = " + std::to_string(n);
  if (diverged > 0) text += ", " + std::to_string(diverged) + " diverged";
  if (undefined > 0) text += ", " + std::to_string(undefined) + " undefined";
  return text;
}

std::string ByteUnit::text(double bytes) const { return significant(bytes / size); }

ByteUnit byte_unit(double largest_bytes) {
  if (largest_bytes >= 1e7) return {"MB", 1e6};
  if (largest_bytes >= 1e4) return {"kB", 1e3};
  return {"B", 1};
}

}  // namespace tersor::reports
