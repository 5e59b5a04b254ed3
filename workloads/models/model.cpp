// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/model.hpp"

#include <vector>

#include "common/error.hpp"
#include "common/nearest.hpp"

namespace tersor::workloads {
namespace {

std::map<std::string, ModelInfo, std::less<>>& registry() {
  static std::map<std::string, ModelInfo, std::less<>> models;
  return models;
}

}  // namespace

ModelRegistrar::ModelRegistrar(ModelInfo info) {
  const std::string name = info.name;
  if (!registry().emplace(name, std::move(info)).second)
    throw Error(ErrorKind::kInternal, "model '" + name + "' is registered twice");
}

const std::map<std::string, ModelInfo, std::less<>>& all_models() { return registry(); }

const ModelInfo& find_model(std::string_view name) {
  const auto found = registry().find(name);
  if (found != registry().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, info] : registry()) names.push_back(known);
  throw Error(ErrorKind::kUsage, "model '" + std::string(name) + "' is unknown" +
                                     known_names_hint(std::string(name), names));
}

}  // namespace tersor::workloads
