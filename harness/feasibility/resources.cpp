// SPDX-License-Identifier: Apache-2.0
#include "harness/feasibility/resources.hpp"

#include <cstdlib>
#include <system_error>

#include "common/cache_folder.hpp"
#include "common/error.hpp"
#include "datasets/dataset.hpp"
#include "harness/matrix/model_facts.hpp"

namespace tersor::harness {

namespace fs = std::filesystem;

Resources find_resources(const std::string& data, const std::string& weights) {
  Resources resources;
  resources.data_root = datasets::find_data_root(data);
  std::error_code ignored;
  if (!resources.data_root.empty() && !fs::is_directory(resources.data_root, ignored))
    throw Error(ErrorKind::kMissing, (data.empty() ? "TERSOR_DATA=" : "--data ") +
                                         resources.data_root.string() +
                                         ": there is no such folder");
  if (!resources.data_root.empty()) resources.data_root = fs::absolute(resources.data_root);
  const char* variable = std::getenv("TERSOR_WEIGHTS");
  if (!weights.empty()) {
    resources.weights = weights;
  } else if (variable) {
    resources.weights = variable;
  }
  if (!resources.weights.empty() && !fs::is_directory(resources.weights, ignored))
    throw Error(ErrorKind::kMissing, (weights.empty() ? "TERSOR_WEIGHTS=" : "--weights ") +
                                         resources.weights.string() +
                                         ": there is no such folder; it should hold "
                                         "model.safetensors and vocab.txt");
  if (!resources.weights.empty()) resources.weights = fs::absolute(resources.weights);
  return resources;
}

WeightFiles find_weights(const std::string& model, const Resources& resources) {
  const ModelFacts& facts = find_model(model);
  if (facts.weights.empty()) return {};
  fs::path folder = resources.weights.empty() ? cache_folder() / "models" : resources.weights;
  std::error_code ignored;
  if (resources.weights.empty() || fs::is_directory(folder / facts.weights, ignored))
    folder /= facts.weights;
  WeightFiles files{folder / "model.safetensors", folder / "vocab.txt", ""};
  for (const fs::path& file : {files.weights, files.vocabulary}) {
    if (fs::is_regular_file(file, ignored)) continue;
    files.problem = "the weights of " + model + " are missing: " + file.string() +
                    "; scripts/fetch " + facts.weights + " gets them";
    break;
  }
  return files;
}

}  // namespace tersor::harness
