// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace tersor::fuzz {

using Random = std::mt19937_64;

/// A whole number below `end`, which is above 0.
std::size_t below(Random& random, std::size_t end);

/// Replaces, removes, renames or doubles one member somewhere in the value.
void mutate_value(Random& random, nlohmann::ordered_json& value);

/// Changes up to eight bytes: flips, cuts, doubled and inserted pieces.
void mutate_bytes(Random& random, std::string& bytes);

/// Removes, doubles, swaps or mutates records.
void mutate_records(Random& random, std::vector<nlohmann::ordered_json>& records);

}  // namespace tersor::fuzz
