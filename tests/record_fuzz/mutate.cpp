// SPDX-License-Identifier: Apache-2.0
#include "tests/record_fuzz/mutate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace tersor::fuzz {
namespace {

using nlohmann::ordered_json;

ordered_json odd_value(Random& random) {
  static const std::vector<ordered_json> kValues{
      nullptr,
      true,
      0,
      -1,
      1,
      2,
      1.5,
      -0.0,
      1e308,
      5e-324,
      std::numeric_limits<std::int64_t>::max(),
      std::numeric_limits<std::int64_t>::min(),
      std::numeric_limits<std::uint64_t>::max(),
      std::int64_t{1} << 32,
      "",
      "x",
      "2",
      "accuracy",
      "ok",
      "failed",
      std::string("a\0b", 3),
      "\x1b[2J",
      "\xe2\x80\xae",
      std::string(5000, 'y'),
      "=1+1",
      "'; DROP TABLE run; --",
      ordered_json::object(),
      ordered_json::array(),
      ordered_json{{"spec", 1}},
      ordered_json{{"a", {{"b", nullptr}}}},
      ordered_json::array({1, "x", nullptr}),
      ordered_json::array({ordered_json::array({ordered_json::array()})})};
  return kValues[below(random, kValues.size())];
}

/// Any value inside, itself included.
ordered_json& somewhere(Random& random, ordered_json& value) {
  ordered_json* at = &value;
  while (at->is_structured() && !at->empty() && below(random, 4) != 0)
    at = &*std::next(at->begin(), std::ptrdiff_t(below(random, at->size())));
  return *at;
}

void mutate_object(Random& random, ordered_json& object) {
  const auto member = std::next(object.begin(), std::ptrdiff_t(below(random, object.size())));
  const std::string key = member.key();
  switch (below(random, 4)) {
    case 0: object.erase(key); break;
    case 1: object[key + "x"] = object[key]; break;
    case 2: {
      const ordered_json moved = object[key];
      object.erase(key);
      object["nonfinite"] = moved;
      break;
    }
    default: object[key] = odd_value(random);
  }
}

}  // namespace

std::size_t below(Random& random, std::size_t end) { return random() % end; }

void mutate_value(Random& random, ordered_json& value) {
  ordered_json& chosen = somewhere(random, value);
  if (chosen.is_object() && !chosen.empty()) {
    mutate_object(random, chosen);
  } else if (chosen.is_array() && !chosen.empty() && below(random, 2) == 0) {
    chosen.erase(below(random, chosen.size()));
  } else {
    chosen = odd_value(random);
  }
}

void mutate_bytes(Random& random, std::string& bytes) {
  constexpr std::array<const char*, 10> kPieces{"\n", "1e999", "NaN",     "[[[[", "{\"",
                                                ",",  ":",     "\\u0000", "\"",   "-"};
  for (std::size_t left = 1 + below(random, 8); left > 0 && !bytes.empty(); --left) {
    const std::size_t at = below(random, bytes.size());
    switch (below(random, 6)) {
      case 0: bytes[at] = static_cast<char>(random()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8))); break;
      case 2: bytes.erase(at, 1 + below(random, 16)); break;
      case 3: bytes.insert(at, bytes.substr(at, 1 + below(random, 64))); break;
      case 4: bytes.insert(at, kPieces[below(random, kPieces.size())]); break;
      default:
        if (below(random, 4) == 0) bytes.resize(at);
    }
  }
}

void mutate_records(Random& random, std::vector<ordered_json>& records) {
  const std::size_t at = below(random, records.size());
  switch (below(random, 8)) {
    case 0: records.erase(records.begin() + std::ptrdiff_t(at)); break;
    case 1: records.insert(records.begin() + std::ptrdiff_t(at), records[at]); break;
    case 2: std::swap(records[at], records[below(random, records.size())]); break;
    default: mutate_value(random, records[at]);
  }
  if (below(random, 3) == 0 && !records.empty())
    mutate_value(random, records[below(random, records.size())]);
}

}  // namespace tersor::fuzz
