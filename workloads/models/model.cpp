// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/model.hpp"

#include <map>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "workloads/layers/activations.hpp"
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

const ModelManifest& find_manifest(std::string_view name) {
  static const std::map<std::string, ModelManifest, std::less<>> models = read_manifests();
  const auto found = models.find(name);
  if (found != models.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, manifest] : models) names.push_back(known);
  throw Error(ErrorKind::kUsage,
              "unknown model '" + std::string(name) + "'" + known_names_hint(name, names));
}

}  // namespace

std::int64_t ModelManifest::number(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end() || !found->is_number_integer())
    throw Error(ErrorKind::kData,
                "manifest of model '" + name + "': no whole number '" + key + "'");
  return found->get<std::int64_t>();
}

Activations Model::pool(const Activations& x, const datasets::Batch& /*batch*/,
                        const Pass& /*pass*/) {
  return x;
}

at::Tensor Model::forward(const datasets::Batch& batch, const Pass& pass) {
  return head(run_blocks(embed(batch, pass), batch, pass), batch, pass);
}

LayerModel::LayerModel(const ModelManifest& sizes, const ModelContext& context)
    : sizes_(sizes), builder_(context, sizes.number("layers"), sizes.number("hidden")) {
  const std::int64_t positions = sizes.number("positions"), tokens = context.config.data.sequence;
  if (positions > 0 && tokens > positions)
    throw Error(ErrorKind::kUsage, "sequence " + std::to_string(tokens) + " is above " +
                                       sizes.name + "'s " + std::to_string(positions) +
                                       " positions");
}

std::size_t LayerModel::parts(const PassContext& pass) const {
  const LayerHost& host = builder_.host();
  return host.is_split(pass) ? host.group.locals() : 1;
}

nlohmann::ordered_json LayerModel::facts(const std::string& kind,
                                         std::initializer_list<const char*> numbers,
                                         const nlohmann::ordered_json& more) const {
  nlohmann::ordered_json facts{{"kind", kind}};
  for (const char* name : numbers) facts[name] = sizes_.number(name);
  facts.update(more);
  facts["weights"] = builder_.has_weights() ? "file" : "random";
  return facts;
}

std::unique_ptr<Model> make_model(std::string_view name, const ModelContext& context) {
  const ModelManifest& manifest = find_manifest(name);
  return Registry<ModelArchitecture>::instance()
      .find(manifest.architecture)
      .make(manifest, context);
}

std::int64_t model_blocks(std::string_view name) { return find_manifest(name).number("layers"); }

}  // namespace tersor::workloads
