// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace tersor::harness {

/// Where jobs find what they read.
struct Resources {
  std::filesystem::path data_root;  ///< holds glue/; empty: embedded data only
  std::filesystem::path weights;    ///< folder given by the user; empty: the cache
};

/// Checks what the user gave (--data or TERSOR_DATA, --weights or TERSOR_WEIGHTS). Throws
/// Error(kMissing) on a folder that is not there.
Resources find_resources(const std::string& data, const std::string& weights);

/// model.safetensors and vocab.txt of a model that starts from weights.
struct WeightFiles {
  std::filesystem::path weights;  ///< empty: the model starts at random
  std::filesystem::path vocabulary;
  std::string problem;  ///< what is missing, and the command that gets it; empty: nothing
};

/// In the user's folder (or NAME in it), else in ${XDG_CACHE_HOME:-~/.cache}/tersor/models/NAME.
WeightFiles find_weights(const std::string& model, const Resources& resources);

}  // namespace tersor::harness
