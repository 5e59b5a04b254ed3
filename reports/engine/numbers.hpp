// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>

namespace tersor::reports {

/// Fixed decimals, with a true minus sign; "-0.0" is "0.0".
std::string fixed(double value, int decimals);
/// As fixed(), with "+" in front of what is above 0.
std::string with_sign(double value, int decimals);
/// "81.3 ± 0.8", or "81.3" where there is no deviation (n = 1).
std::string with_deviation(double value, std::optional<double> deviation, int decimals);
/// Three significant digits without an exponent where that is short: "0.00123", "1.23", "12300".
std::string significant(double value);
/// "n = 3", and how many seeds are not among them: diverged, or without a defined value.
std::string count_text(std::int64_t n, std::int64_t diverged = 0, std::int64_t undefined = 0);

/// A byte unit that suits the largest of some sizes: B, kB (1,000), MB.
struct ByteUnit {
  const char* name = "B";
  double size = 1;
  std::string text(double bytes) const;
};
ByteUnit byte_unit(double largest_bytes);

}  // namespace tersor::reports
