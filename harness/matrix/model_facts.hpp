// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tersor::harness {

/// What the harness must know of a model before a job starts: workloads/models/FOLDER/NAME.json,
/// carried by the program.
struct ModelFacts {
  std::string name;
  std::string description;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t positions = 0;  ///< longest sequence; 0: not limited
  std::string weights;         ///< what `scripts/fetch` calls its weights; empty: starts at random
};

/// All models, by name.
const std::vector<ModelFacts>& all_models();
/// Throws Error(kUsage) with the nearest and the known names.
const ModelFacts& find_model(const std::string& name);

}  // namespace tersor::harness
