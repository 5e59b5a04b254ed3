// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tersor {

/// The shortest decimal that reads back the same, never with an exponent: 0.1, 1, 0.00001. -0 is
/// "0"; non-finite values are "nan", "inf", "-inf".
std::string format_number(double value);

/// The whole text as a decimal integer (optional sign); nullopt where it is none or does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);
/// The whole text as digits alone, no sign: a count, an index; nullopt where it does not fit.
std::optional<std::int64_t> parse_whole_number(std::string_view text);
/// The whole text as a finite decimal number, with or without exponent; nullopt where it is none.
std::optional<double> parse_real(std::string_view text);
/// The whole text as an unsigned 64-bit integer, decimal or 0x and hex digits.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

}  // namespace tersor
