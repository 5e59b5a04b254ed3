// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// The facts that have a column of their own in the database, by object, with the type of the
/// column. Each may be missing or null; facts that are not listed may be anything.
namespace tersor::protocol {

enum class FactType {
  kText,    ///< a string; a number is taken as its text
  kCount,   ///< a whole number from 0 to 2^63 - 1
  kNumber,  ///< a finite number
  kObject
};
struct FactField {
  const char* name;
  FactType type;
};

inline constexpr std::array<FactField, 5> kHardwareFacts{{{"cpu", FactType::kText},
                                                          {"cores", FactType::kCount},
                                                          {"memory_bytes", FactType::kCount},
                                                          {"gpu", FactType::kText},
                                                          {"gpus", FactType::kCount}}};
inline constexpr std::array<FactField, 9> kEnvironmentFacts{{{"torch", FactType::kText},
                                                             {"cuda", FactType::kText},
                                                             {"compiler", FactType::kText},
                                                             {"flags", FactType::kText},
                                                             {"isa", FactType::kText},
                                                             {"math_isa", FactType::kText},
                                                             {"math_library", FactType::kText},
                                                             {"threads", FactType::kCount},
                                                             {"backend", FactType::kText}}};
inline constexpr std::array<FactField, 7> kDatasetFacts{{{"name", FactType::kText},
                                                         {"train_rows", FactType::kCount},
                                                         {"eval_rows", FactType::kCount},
                                                         {"train_hash", FactType::kText},
                                                         {"eval_hash", FactType::kText},
                                                         {"subset", FactType::kText},
                                                         {"best_accuracy", FactType::kNumber}}};
inline constexpr std::array<FactField, 5> kModelFacts{{{"name", FactType::kText},
                                                       {"arch", FactType::kObject},
                                                       {"parameters", FactType::kCount},
                                                       {"trainable", FactType::kCount},
                                                       {"init_hash", FactType::kText}}};

/// The first fact that its column could not take: its name, and what is wrong, e.g. "must be a
/// whole number from 0, got \"2\"". `facts` is an object or null.
std::optional<std::pair<std::string, std::string>> find_bad_fact(const nlohmann::json& facts,
                                                                 std::span<const FactField> fields);

}  // namespace tersor::protocol
