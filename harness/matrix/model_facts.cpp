// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/model_facts.hpp"

#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "harness/input/embedded.hpp"

namespace tersor::harness {
namespace {

std::vector<ModelFacts> read_models() {
  std::vector<ModelFacts> models;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.group != "models") continue;
    const auto json = nlohmann::json::parse(file.text);
    TERSOR_CHECK(json.at("name") == file.name, std::string(file.path) + ": wrong name");
    models.push_back({json.at("name"), json.value("description", ""), json.at("layers"),
                      json.at("hidden"), json.at("heads"), json.value("positions", std::int64_t{0}),
                      json.value("weights", "")});
  }
  return models;
}

}  // namespace

const std::vector<ModelFacts>& all_models() {
  static const std::vector<ModelFacts> models = read_models();
  return models;
}

const ModelFacts& find_model(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelFacts& model : all_models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  throw Error(ErrorKind::kUsage, "unknown model '" + name + "'" + known_names_hint(name, names));
}

}  // namespace tersor::harness
