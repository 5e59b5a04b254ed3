// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tersor::protocol {

enum class FieldType { kText, kWhole, kReal, kFlag };

/// What a field may hold.
struct Values {
  std::vector<std::string> choices = {};  ///< of a text; empty: any
  bool may_be_empty = false;              ///< a text
  /// Checks and normalises a text (or a whole number, as text); throws Error(kUsage).
  std::string (*canonical)(const std::string&) = nullptr;
  std::string form = {};  ///< the texts that `canonical` takes
  double low = 0;         ///< of a number
  double high = 0;
  bool is_half_open = false;  ///< `high` itself is out
};

Values not_empty();
Values any_text();
Values one_of(std::vector<std::string> choices);
Values from(double low, double high);
/// Without `high` itself.
Values below(double low, double high);
Values flag();
/// `all | none | last:N | first:N | A-B`, without leading zeros.
Values layers_form();
/// `even`, or whole numbers above 0 joined by +, without leading zeros.
Values partition_form();
/// "N" (steps) or "N epochs"; zero of either is "0".
Values warmup_form();

/// The given value in its canonical form. Throws Error(kUsage) that begins with `name`.
nlohmann::json checked(const nlohmann::json& given, FieldType type, const Values& values,
                       const std::string& name);

/// For people: "`mean`, `cls`", "[1, 1024]", "true, false".
std::string values_text(FieldType type, const Values& values);

/// The value as an error message shows it, at most 80 bytes.
std::string shown(const nlohmann::json& value);

}  // namespace tersor::protocol
