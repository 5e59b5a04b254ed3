// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/model.hpp"

#include <map>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "workloads/models/architecture.hpp"

namespace tersor::workloads {

/// Path in the source tree and text; written by CMake.
std::vector<std::pair<std::string_view, std::string_view>> model_manifests();

namespace {

std::map<std::string, ModelManifest, std::less<>> read_manifests() {
  std::map<std::string, ModelManifest, std::less<>> models;
  for (const auto& [path, text] : model_manifests()) {
    nlohmann::json values = nlohmann::json::parse(text);
    ModelManifest manifest{values.at("name"), values.at("architecture"), {}};
    manifest.values = std::move(values);
    const std::string name = manifest.name;
    if (!models.emplace(name, std::move(manifest)).second)
      throw Error(ErrorKind::kInternal, "model '" + name + "' has two manifests");
  }
  return models;
}

}  // namespace

std::int64_t ModelManifest::number(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end() || !found->is_number_integer())
    throw Error(ErrorKind::kData,
                "manifest of model '" + name + "': no whole number '" + key + "'");
  return found->get<std::int64_t>();
}

std::unique_ptr<Model> make_model(std::string_view name, const ModelContext& context) {
  static const std::map<std::string, ModelManifest, std::less<>> models = read_manifests();
  const auto found = models.find(name);
  if (found != models.end())
    return Registry<ModelArchitecture>::instance()
        .find(found->second.architecture)
        .make(found->second, context);
  std::vector<std::string> names;
  for (const auto& [known, manifest] : models) names.push_back(known);
  throw Error(ErrorKind::kUsage,
              "unknown model '" + std::string(name) + "'" + known_names_hint(name, names));
}

}  // namespace tersor::workloads
