// SPDX-License-Identifier: Apache-2.0
#include "protocol/fact_types.hpp"

#include <cstdint>
#include <limits>

#include "protocol/field_values.hpp"

namespace tersor::protocol {
namespace {

using nlohmann::json;

bool is_count(const json& value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= kMost;
  return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}

/// Empty where the value has the type.
std::string wanted(const json& value, FactType type) {
  switch (type) {
    case FactType::kText: return value.is_string() || value.is_number() ? "" : "a string";
    case FactType::kCount: return is_count(value) ? "" : "a whole number from 0";
    case FactType::kNumber: return value.is_number() ? "" : "a number";
    case FactType::kObject: return value.is_object() ? "" : "an object";
  }
  return "";
}

}  // namespace

std::optional<std::pair<std::string, std::string>> find_bad_fact(
    const json& facts, std::span<const FactField> fields) {
  if (!facts.is_object()) return std::nullopt;
  for (const auto& [name, type] : fields) {
    const auto found = facts.find(name);
    if (found == facts.end() || found->is_null()) continue;
    if (const std::string what = wanted(*found, type); !what.empty())
      return std::pair(std::string(name), "must be " + what + ", got " + shown(*found));
  }
  return std::nullopt;
}

}  // namespace tersor::protocol
