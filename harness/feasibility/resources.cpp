// SPDX-License-Identifier: Apache-2.0
#include "harness/feasibility/resources.hpp"

#include <cstdlib>
#include <system_error>

#include "common/absolute_path.hpp"
#include "common/cache_folder.hpp"
#include "common/error.hpp"
#include "datasets/dataset.hpp"
#include "harness/matrix/model_facts.hpp"

namespace tersor::harness {

namespace fs = std::filesystem;

namespace {

/// Why there is nothing to read at a path; empty: a folder, or a regular file, is there.
std::string why_not_there(const fs::path& path, bool wants_folder) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  if (!fs::exists(found))
    return error && found.type() != fs::file_type::not_found
               ? error.message()
               : std::string("there is no such ") + (wants_folder ? "folder" : "file");
  if (wants_folder) return fs::is_directory(found) ? "" : "it is no folder";
  return fs::is_regular_file(found) ? "" : "it is no regular file";
}

void expect_folder(const std::string& option, const fs::path& folder, const std::string& hint) {
  const std::string why = why_not_there(folder, true);
  if (!why.empty()) throw Error(ErrorKind::kMissing, option + folder.string() + ": " + why + hint);
}

}  // namespace

Resources find_resources(const std::string& data, const std::string& weights) {
  Resources resources;
  resources.data_root = datasets::find_data_root(data);
  if (!resources.data_root.empty()) {
    expect_folder(data.empty() ? "TERSOR_DATA=" : "--data ", resources.data_root, "");
    resources.data_root = absolute_path(resources.data_root);
  }
  const char* variable = std::getenv("TERSOR_WEIGHTS");
  if (!weights.empty()) {
    resources.weights = weights;
  } else if (variable) {
    resources.weights = variable;
  }
  if (!resources.weights.empty()) {
    expect_folder(weights.empty() ? "TERSOR_WEIGHTS=" : "--weights ", resources.weights,
                  "; it should hold model.safetensors and vocab.txt");
    resources.weights = absolute_path(resources.weights);
  }
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
    const std::string why = why_not_there(file, false);
    if (why.empty()) continue;
    files.problem = "the weights of " + model + " are missing: " + file.string() + ": " + why +
                    "; scripts/fetch " + facts.weights + " gets them";
    break;
  }
  return files;
}

}  // namespace tersor::harness
