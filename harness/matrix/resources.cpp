// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/resources.hpp"

#include <cstdlib>
#include <map>
#include <system_error>

#include "common/cache_folder.hpp"
#include "common/error.hpp"
#include "compressors/api/tensor_site.hpp"
#include "datasets/dataset.hpp"
#include "harness/matrix/model_facts.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

/// Why `layers` does not fit the model, or empty.
std::string judge_layers(const std::string& layers, const ModelFacts& model) {
  const auto too_many = [&](std::int64_t wanted) {
    return wanted > model.layers ? "layers '" + layers + "': " + model.name + " has " +
                                       std::to_string(model.layers) + " layers"
                                 : std::string();
  };
  if (const auto colon = layers.find(':'); colon != std::string::npos)
    return too_many(std::stoll(layers.substr(colon + 1)));
  if (const auto dash = layers.find('-'); dash != std::string::npos)
    return too_many(std::stoll(layers.substr(dash + 1)) + 1);
  return {};
}

std::string judge_model(const protocol::Cell& cell) {
  const ModelFacts& model = find_model(cell.model.name);
  const int tp = cell.hardware.tp;
  if (model.heads % tp != 0 || model.hidden % tp != 0)
    return "tp " + std::to_string(tp) + " does not divide the " + std::to_string(model.heads) +
           " heads of " + model.name;
  if (model.positions > 0 && cell.data.sequence > model.positions)
    return "sequence " + std::to_string(cell.data.sequence) + ": " + model.name + " has " +
           std::to_string(model.positions) + " positions";
  return judge_layers(cell.compression.layers, model);
}

std::string judge_data(const protocol::Cell& cell, const Resources& resources) {
  const auto& info = datasets::find_dataset(cell.data.name);
  const auto found = datasets::available(info, resources.data_root);
  if (found.available) return {};
  std::string reason = "data set '" + cell.data.name + "': ";
  if (resources.data_root.empty()) {
    reason += "no data root; give --data DIR or set TERSOR_DATA";
  } else {
    reason += "missing";
    for (const std::string& file : found.missing) reason += " " + file;
  }
  return found.remedy.empty() ? reason : reason + "; " + found.remedy;
}

std::string judge_sites(const protocol::Cell& cell) {
  for (const auto& [site, spec] : cell.compression.codecs)
    if ((site == "pp" || site == "pp.gradient") && spec != "none" && cell.hardware.pp == 1)
      return "site '" + site + "': there is no pipeline at pp 1";
  for (const char* site : {"tp", "tp.backward"}) {
    const auto codec = compressors::make_codec(cell.compression.codecs.at(site));
    const std::string reason =
        compressors::refuses_nodes(*codec, cell.hardware.tp, cell.hardware.nodes);
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace

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

Feasibility judge_cell(const protocol::Cell& cell, const Machine& machine,
                       const Resources& resources) {
  Feasibility found = judge_hardware(cell.hardware, machine);
  const auto refuse = [&](const std::string& why) {
    if (found.why_not.empty()) found.why_not = why;
  };
  if (cell.training.stage != "finetune")
    refuse("stage '" + cell.training.stage + "' is not built yet");
  refuse(judge_sites(cell));
  refuse(judge_model(cell));
  refuse(judge_data(cell, resources));
  refuse(find_weights(cell.model.name, resources).problem);
  if (found.warning.empty() && cell.hardware.tp == 1 && !cell.compression.loopback &&
      cell.compression.codecs.at("tp") != "none")
    found.warning = "has one shard, so codecs are off (\"loopback\": true runs them)";
  return found;
}

}  // namespace tersor::harness
